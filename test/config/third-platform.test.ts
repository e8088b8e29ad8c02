import { expect, test } from "vitest";
import { readConfig, secretsOf } from "#config/read-config.ts";
import { greeting } from "#process/greeting.ts";
import { lineChat } from "#test/line-chat/platform.ts";

const connected = { LINE_CHAT_ADDRESS: "127.0.0.1:7000", LINE_CHAT_PASSWORD: "password-1" };
const read = (env: Record<string, string>, yaml: string | null = null) =>
  readConfig(env, () => yaml, [lineChat]);

function sound(env: Record<string, string>, yaml: string | null = null) {
  const reading = read(env, yaml);
  if (!reading.ok) throw new Error(reading.problems.join("\n"));
  return reading.config;
}

test("a platform's folder brings its keys of the config file", () => {
  const yaml =
    "rooms: { general: { model: fast } }\npermissions: { line-chat: { people: [ann], rooms: [general] } }";
  expect(sound(connected, yaml).rules).toMatchObject({
    scopes: { "line-chat:general": { model: "fast" } },
    allow: { "line-chat": { people: ["ann"], scopes: ["line-chat:general"] } },
    platforms: { "line-chat": { hasStateLabels: false } },
  });
  expect(read(connected, "rooms: { '#general': {} }")).toMatchObject({
    problems: ["agent-runs-bot.yaml: rooms.#general is not a valid name; write the room's name without #."],
  });
  expect(read(connected, "channels: {}")).toMatchObject({
    problems: [expect.stringContaining("channels is not known; known here: defaults, rooms, labels")],
  });
});

test("a platform has its own settling time", () => {
  const yaml = "limits: { settling_seconds: { line-chat: 5 } }";
  expect(sound(connected, yaml).settlingMs).toEqual({ "line-chat": 5_000 });
  expect(read(connected, "limits: { settling_seconds: { slack: 5 } }")).toMatchObject({
    problems: [expect.stringContaining("slack is not known; known here: api, line-chat.")],
  });
});

test("a platform's folder brings its variables, their problems and its secrets", () => {
  expect(secretsOf(sound(connected))).toEqual(["password-1"]);
  expect(read({ LINE_CHAT_ADDRESS: "nowhere", LINE_CHAT_PASSWORDS: "x" })).toMatchObject({
    problems: [
      "LINE_CHAT_ADDRESS must be host:port.",
      "LINE_CHAT_PASSWORD is missing: ask the chat's owner for it.",
    ],
    warnings: ["LINE_CHAT_PASSWORDS is not a setting. Did you mean LINE_CHAT_PASSWORD?"],
  });
  expect(read({ HOST: "0.0.0.0" })).toMatchObject({
    problems: [expect.stringMatching(/set it so, or set up Line chat\.$/)],
  });
});

test("a platform's folder brings its line of the greeting", () => {
  const url = "http://127.0.0.1:3000";
  expect(greeting(sound({}), { url })).toContain(
    "\n  Line chat  not connected; set LINE_CHAT_ADDRESS and LINE_CHAT_PASSWORD\n",
  );
  expect(greeting(sound(connected), { url })).toContain("\n  Line chat  connected to 127.0.0.1:7000\n");
  expect(greeting(sound(connected), { url })).not.toContain("sandbox");
});
