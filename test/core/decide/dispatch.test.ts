import { expect, test } from "vitest";
import { dispatchKey, referenceLine } from "#core/run.ts";
import {
  alice,
  at,
  channel,
  comment,
  issue,
  labelled,
  mention,
  place,
  reply,
  runAt,
  slash,
  story,
  subject,
} from "#test/support/core/story.ts";

test("a slash command posts the card first, and the run is created when the card has a place", () => {
  const it = story();
  const command = slash("run --model gpt-x fix it");
  expect(it.give(command)).toBe("keep");
  const card = it.one("card");
  expect(card.at).toBe(channel);
  expect(it.one("create").after).toBe(card.id);
  expect(it.request()).toMatchObject({
    title: "fix it",
    config: { name: "agent-runs-bot", model_id: "gpt-x" },
    metadata: { [dispatchKey]: command.id },
  });
  expect(it.request().prompt.split("\n")).toContain(referenceLine(command.id));
  it.done("card", { revision: 1, message: "c1", place });
  expect(it.thread().places).toEqual([place]);
  it.done("create", { runId: "run-1", state: "QUEUED" });
  expect(it.thread().runs[0]).toMatchObject({ runId: "run-1", open: true });
  expect(it.one("card")).toMatchObject({ message: "c1", at: place });
});

test("if the bot can't post in the channel, the person gets a private note and no run is created", () => {
  const it = story();
  it.give(slash("run fix it"));
  it.fails("card", { reason: "I am not in this channel.", code: "not_in_channel" });
  expect(it.effects("create")).toEqual([]);
  expect(it.one("tell")).toMatchObject({ person: alice, answerVia: "https://hooks.example.com/1" });
  expect(it.said("tell")[0]).toContain("I am not in this channel.");
  it.performAll();
  expect(it.settled()).toBe(true);
});

test("in a locked issue the card comes first, and the run is created only if the card is posted", () => {
  const locked = { subject: { ...subject, locked: true as const } };
  const refused = story();
  refused.give(labelled("agent", locked));
  refused.done("permission", { permission: "write" });
  expect(refused.one("read").after).toBe(refused.one("card").id);
  expect(refused.one("create").after).toBe(refused.one("read").id);
  refused.fails("card", { reason: "The conversation is locked." });
  expect(refused.effects("create")).toEqual([]);
  expect(refused.effects("read")).toEqual([]);
  expect(refused.one("label").label).toBe("agent:failed");
  refused.performAll();
  expect(refused.settled()).toBe(true);

  const taken = story();
  taken.give(labelled("agent", locked));
  taken.performAll();
  expect(taken.thread().runs[0]).toMatchObject({ runId: "run-1", failed: null });
  expect(taken.settled()).toBe(false);
});

test("a mention that starts a conversation posts the card and creates the run at the same time", () => {
  const it = story();
  it.give(mention("fix it"));
  expect(it.one("card").at).toBe(place);
  expect(it.one("create").after).toBeUndefined();
  expect(it.effects("read")).toEqual([]);
});

test("a mention inside a thread adds the earlier messages as context", () => {
  const it = story();
  const event = mention("fix it", { first: false });
  it.give(event);
  const read = it.one("read");
  expect(read).toMatchObject({ at: place, until: event.at, except: event.message });
  expect(it.one("create").after).toBe(read.id);
  it.done("read", { messages: [{ author: "bob", at: "t", text: "Mondays!", bot: false }], omitted: 0 });
  expect(it.request().prompt).toContain("> Mondays!");
  expect(it.request().prompt.startsWith("fix it")).toBe(true);
});

test("if the thread can't be read, the run is created anyway and its prompt notes the gap", () => {
  const it = story();
  it.give(mention("fix it", { first: false }));
  for (let tries = 0; tries < 4; tries += 1) it.fails("read", { retryable: true });
  expect(it.effects("read")).toEqual([]);
  expect(it.request().prompt).toContain("left out");
});

test("a prompt of any length is saved once, with its context", () => {
  const it = story();
  const words = `fix it ${"and more ".repeat(50)}carefully`;
  it.give(mention(words, { first: false }));
  it.done("read", { messages: [{ author: "bob", at: "t", text: "Mondays!", bot: false }], omitted: 0 });
  expect(JSON.stringify(it.thread()).split(words)).toHaveLength(2);
  expect(JSON.stringify(it.thread()).split("Mondays!")).toHaveLength(2);
});

test("one message makes one run, even if it is delivered twice and as two kinds of event", () => {
  const it = story();
  const event = mention("fix it");
  it.give(event);
  const before = it.thread();
  expect(it.give({ ...event })).toBe("keep");
  expect(it.thread()).toBe(before);
  it.performAll();
  it.restart();
  it.wait(3 * 24 * 3_600);
  it.give({ ...event });
  expect(it.thread().runs).toHaveLength(1);
});

test("a label waits for its author's permission, and is then dispatched with the issue", () => {
  const it = story();
  it.give(labelled());
  expect(it.thread().effects.map((effect) => effect.kind)).toEqual(["permission"]);
  it.done("permission", { permission: "write" });
  it.done("read", { messages: [{ author: "bob", at: "t", text: "me too", bot: false }], omitted: 0 });
  const { prompt, title } = it.request();
  expect(title).toBe("The test is flaky");
  for (const part of ["Resolve the issue", "> The test is flaky", "> It fails on Mondays.", "> me too"]) {
    expect(prompt).toContain(part);
  }
  expect(it.one("label")).toMatchObject({ at: issue, label: "agent:queued" });
});

test("a label by a person without write access starts nothing, and the person gets one note", () => {
  const it = story();
  it.give(labelled());
  it.done("permission", { permission: "read" });
  expect(it.thread().runs).toEqual([]);
  expect(it.said("tell")).toEqual(["Sorry, this needs write access to the repository."]);
  it.performAll();
  it.give(labelled("agent", { at: at(60) }));
  it.done("permission", { permission: "read" });
  expect(it.effects("tell")).toEqual([]);
});

test("events that wait for a permission keep their order", () => {
  const it = story();
  it.give(labelled());
  const bob = { platform: "github", id: "bob", name: "bob", bot: false, permission: "unknown" } as const;
  it.give(comment("first, from bob", { by: bob }));
  it.give(comment("second, from alice"));
  const asked = it.effects("permission");
  expect(asked.map((effect) => effect.person.id)).toEqual(["alice", "bob"]);
  it.outcome(asked[0]?.id ?? "", { ok: true, kind: "permission", permission: "write" });
  expect(it.thread().waiting).toHaveLength(2);
  it.outcome(asked[1]?.id ?? "", { ok: true, kind: "permission", permission: "write" });
  const texts = it.effects("follow-up").map((effect) => effect.message);
  expect(texts[0]).toContain("first, from bob");
  expect(texts[1]).toContain("second, from alice");
});

test("other labels and the bot's state labels start nothing", () => {
  const it = story();
  expect(it.give(labelled("bug"))).toBe("ignore");
  expect(it.give(labelled("agent:queued"))).toBe("ignore");
});

test("a label on an issue with a run at work starts no second run", () => {
  const it = story();
  it.give(labelled());
  it.performAll();
  it.give(labelled());
  it.performAll();
  expect(it.thread().runs).toHaveLength(1);
});

test("events from bots are ignored", () => {
  const it = story();
  const bot = { ...alice, bot: true };
  for (const event of [
    slash("run x", { by: bot }),
    mention("run x", { by: bot }),
    labelled("agent", { by: bot }),
  ]) {
    expect(it.give(event)).toBe("ignore");
  }
});

test("on Slack the allowlist decides, and other people get a private note", () => {
  const it = story({ allow: { slack: { people: ["UBOB"] } } });
  it.give(slash("run fix it"));
  expect(it.thread().runs).toEqual([]);
  expect(it.said("tell")[0]).toContain("not on the list");
});

test("defaults of the channel and the label apply, and a flag wins over them", () => {
  const it = story({ defaults: { model: "a", environment: "e" }, scopes: { "slack:C1": { model: "b" } } });
  it.give(slash("run fix it"));
  expect(it.request().config).toMatchObject({ model_id: "b", environment_id: "e" });
  const flagged = story({ defaults: { model: "a" }, scopes: { "slack:C1": { model: "b" } } });
  flagged.give(slash("run --model c --mcp docs fix it"));
  expect(flagged.request().config).toMatchObject({
    model_id: "c",
    mcp_servers: { docs: { url: "https://docs.example.com/mcp" } },
  });
});

test("an unknown MCP server is named, and no run is made", () => {
  const it = story();
  it.give(slash("run --mcp tracker fix it"));
  expect(it.thread().runs).toEqual([]);
  expect(it.said("tell")[0]).toBe("I don't know the MCP server tracker. These are set up: docs.");
});

test("a refused create is reported in its place with the reason, and so is each message that waited for it", () => {
  const it = story();
  it.give(mention("fix it"));
  it.give(reply("and hurry"));
  it.fails("create", {
    reason: "The budget is used up.",
    code: "budget_exceeded",
    link: "https://example.com/pay",
  });
  expect(it.said("reply")[0]).toContain("The budget is used up.");
  expect(it.said("reply")[0]).toContain("https://example.com/pay");
  expect(it.effects("follow-up")).toEqual([]);
  expect(it.said("tell")[0]).toContain("did not reach the agent");
  it.performAll();
  expect(it.settled()).toBe(true);
});

test("a create with an unknown outcome is looked up and tried again, and the card says that it waits", () => {
  const it = story();
  it.give(mention("fix it"));
  it.fails("create", { retryable: true, certainty: "unknown", reason: "The API is away." });
  expect(it.one("create")).toMatchObject({ uncertain: true, tries: 1 });
  expect(it.said("card")[0]).not.toContain("away");
  it.fails("create", { retryable: true, certainty: "not-sent", reason: "The API is away." });
  expect(it.one("create")).toMatchObject({ uncertain: true, tries: 2 });
  expect(it.said("card")[0]).toContain("The API is away.");
  for (let minutes = 0; minutes < 24 * 60; minutes += 5) {
    expect(it.effects("create")).toHaveLength(1);
    it.wait(5 * 60);
    it.fails("create", { retryable: true, certainty: "not-sent", reason: "The API is away." });
  }
  expect(it.effects("create")).toEqual([]);
  expect(it.said("reply")[0]).toContain("The API is away.");
});

test("a step of the clock by a day, in either direction, ages no effect", () => {
  const day = 24 * 3_600;
  for (const step of [day, -day]) {
    const it = story();
    it.give(mention("fix it"));
    const fails = () => it.fails("create", { retryable: true, certainty: "not-sent", reason: "away" });
    for (let minutes = 0; minutes < 15; minutes += 1) {
      it.wait(60);
      fails();
    }
    it.wait(step);
    fails();
    it.wait(-step);
    fails();
    expect(it.effects("create")).toHaveLength(1);
  }
});

test("a read that fails while the clock is a day behind is given up in time all the same", () => {
  const it = story();
  it.give(mention("fix it"));
  it.performAll();
  it.run("SUCCEEDED", 10);
  it.wait(-24 * 3_600);
  for (let seconds = 0; seconds < 4 * 60; seconds += 30) {
    it.wait(30);
    if (it.effects("answer").length > 0) it.fails("answer", { retryable: true, certainty: "not-sent" });
  }
  expect(it.effects("answer")).toEqual([]);
  expect(it.effects("reply")).toHaveLength(1);
});

test("a rate limit never makes an effect give up", () => {
  const it = story();
  it.give(mention("fix it"));
  it.wait(30 * 24 * 3_600);
  it.fails("card", { retryable: true, limited: true, retryAfterMs: 60_000 });
  expect(it.effects("card")).toHaveLength(1);
});

test("a retry makes one run, however often its button is pressed", () => {
  const it = story();
  it.give(mention("fix it"));
  it.performAll();
  it.run("FAILED", 10);
  it.performAll();
  const { dispatch, answered } = it.thread().runs[0] ?? { dispatch: "" };
  expect(answered).toBeGreaterThan(0);
  const button = { kind: "button", by: alice, scope: channel, place, action: "retry", dispatch } as const;
  it.give({ ...button, id: "press-1", at: "2026-01-01T00:00:20Z" });
  it.give({ ...button, id: "press-2", at: "2026-01-01T00:00:20Z" });
  expect(it.thread().runs.map((record) => record.dispatch)).toEqual([dispatch, `${dispatch}#retry-1`]);
  // Nothing of the first run's story is taken for the second one's.
  expect(it.thread().runs[1]).toMatchObject({ silentAt: null, answered: 0, passed: [] });
  expect(it.effects("create")).toHaveLength(1);
  expect(it.request().metadata[dispatchKey]).toBe(`${dispatch}#retry-1`);
  expect(it.request().prompt.split("\n")).toContain(referenceLine(`${dispatch}#retry-1`));
  expect(it.request().prompt.split("\n")).not.toContain(referenceLine(dispatch));
  expect(it.said("tell")[0]).toContain("already started again");
});

test("attach follows a run that was started elsewhere", () => {
  const it = story();
  it.give(slash("attach run-9"));
  expect(it.one("hand-over").ref).toBe("run:run-9");
  it.done("hand-over", { taken: false });
  it.done("fetch", { run: runAt("INPROGRESS", 5, { run_id: "run-9", agent_config: { name: "nightly" } }) });
  expect(it.thread().runs[0]).toMatchObject({ runId: "run-9", name: "nightly", open: true, request: null });
  expect(it.one("card").at).toBe(channel);
  it.performAll();
  it.give({ kind: "run", run: runAt("SUCCEEDED", 9, { run_id: "run-9" }) });
  it.done("answer", { text: "Nightly is green.", answered: 2 });
  expect(it.one("reply").at).toBe(place);
  expect(it.said("reply")[0]).toContain("Nightly is green.");
});

test("attach to an ended run reports the end in the card's place", () => {
  const it = story();
  it.give(slash("attach run-9"));
  it.done("hand-over", { taken: false });
  it.done("fetch", { run: runAt("FAILED", 5, { run_id: "run-9" }) });
  expect(it.one("answer").after).toBe(it.one("card").id);
  it.done("card", { revision: it.one("card").revision, message: "c", place });
  it.done("answer", { text: null, answered: 2 });
  expect(it.one("reply").at).toBe(place);
});

test("attach follows neither a run of another channel nor an unknown run", () => {
  const foreign = story();
  foreign.give(slash("attach run-9"));
  foreign.done("hand-over", { taken: false });
  foreign.done("fetch", {
    run: runAt("INPROGRESS", 5, { metadata: { "agent-runs-bot.scope": "slack:T1:C2" } }),
  });
  expect(foreign.thread().runs).toEqual([]);
  expect(foreign.said("tell")[0]).toContain("belongs to another channel");
  const none = story();
  none.give(slash("attach run-9"));
  none.done("hand-over", { taken: false });
  none.done("fetch", { run: null });
  expect(none.said("tell")[0]).toContain("There is no run run-9");
});
