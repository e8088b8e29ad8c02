/** A third platform, a chat of lines over TCP: it proves that a platform is one folder and one line. */
import { z } from "zod";
import { readVariables } from "#config/variables.ts";
import type { PlatformKind } from "#ports.ts";
import { createReceiver, platformName, scopeOf } from "./receive.ts";
import { createSender } from "./send.ts";

const variables = {
  LINE_CHAT_ADDRESS: z
    .string()
    .regex(/^[\w.]+:\d+$/, "must be host:port")
    .optional(),
  LINE_CHAT_PASSWORD: z.string().optional(),
};

const bot = "agent";

export const lineChat: PlatformKind = {
  name: platformName,
  title: "Line chat",
  variables: Object.keys(variables),
  toConnect: "LINE_CHAT_ADDRESS and LINE_CHAT_PASSWORD",
  facts: { hasStateLabels: false, help: ["Begin a line with `/agent`, or with `@agent`."] },
  people: { pattern: /^\w+$/, advice: "write the name under which the person joins" },
  scopes: { key: "rooms", pattern: /^\w+$/, advice: "write the room's name without #", scopeOf },
  read(environment) {
    const { values, isSet, problems } = readVariables(variables, environment);
    const { LINE_CHAT_ADDRESS: address, LINE_CHAT_PASSWORD: password } = values;
    if (isSet("LINE_CHAT_ADDRESS") && !isSet("LINE_CHAT_PASSWORD")) {
      problems.push("LINE_CHAT_PASSWORD is missing: ask the chat's owner for it.");
    }
    if (address === undefined || password === undefined) return { settings: null, problems };
    const hello = `bot ${password}`;
    return {
      problems,
      settings: {
        secrets: [password],
        reached: () => `connected to ${address}`,
        async open(tools) {
          const platform = createSender(address, hello, bot);
          return { platform, routes: {}, ...createReceiver({ address, hello, bot }, tools) };
        },
      },
    };
  },
};
