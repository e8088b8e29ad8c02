import { expect, test } from "vitest";
import { placeAt } from "#core/place.ts";
import { referenceLine } from "#core/run.ts";
import {
  alice,
  channel,
  comment,
  labelled,
  mention,
  place,
  press,
  reply,
  runAt,
  slash,
  story,
} from "#test/support/core/story.ts";

const started = (change = {}) => {
  const it = story(change);
  it.give(mention("fix it"));
  it.performAll();
  return it;
};

test("a reply becomes a follow-up and gets a reaction when the API has accepted it", () => {
  const it = started();
  const event = reply("use the new parser");
  it.give(event);
  const followUp = it.one("follow-up");
  expect(followUp.message).toContain("use the new parser");
  expect(followUp.message.split("\n")).toContain(referenceLine(followUp.id));
  expect(it.effects("react")).toEqual([]);
  it.done("follow-up", {});
  expect(it.one("react")).toMatchObject({ message: event.message, reaction: "taken" });
});

test("replies to a run that is not created yet wait for it, in order", () => {
  const it = story();
  it.give(mention("fix it", { first: false }));
  it.give(reply("first"));
  it.give(reply("second"));
  const toApi = it.thread().effects.filter((effect) => effect.to === "agent-runs");
  expect(toApi.map((effect) => effect.kind)).toEqual(["create", "follow-up", "follow-up"]);
});

test("a reply during the run starts no second run", () => {
  const it = started();
  it.give(reply("also this"));
  it.give(mention("and that", { first: false }));
  it.performAll();
  expect(it.thread().runs).toHaveLength(1);
});

test("no failure of a follow-up starts a new run", () => {
  const it = started();
  it.give(reply("also this"));
  it.fails("follow-up", { retryable: true, certainty: "unknown" });
  expect(it.one("follow-up")).toMatchObject({ uncertain: true });
  it.fails("follow-up", { retryable: false, reason: "The run is gone." });
  expect(it.effects("create")).toEqual([]);
  expect(it.one("react").reaction).toBe("refused");
  expect(it.said("tell")[0]).toContain("The run is gone.");
});

test("an aside is ignored, with or without a mention", () => {
  const it = started();
  expect(it.give(reply("!aside lunch?"))).toBe("ignore");
  expect(it.give(reply("\u200b!aside lunch?"))).toBe("ignore");
  expect(it.give(reply("  !ASIDE lunch?", { mention: true }))).toBe("ignore");
});

test("a message's files are not sent to the agent, and their author gets one note", () => {
  const it = started();
  it.give(reply("", { files: true }));
  expect(it.effects("follow-up")).toEqual([]);
  expect(it.one("react").reaction).toBe("refused");
  expect(it.said("tell")).toEqual(["Only text is sent to the agent. Files stay here."]);
  it.give(reply("the log is attached", { files: true }));
  expect(it.one("follow-up").message).toContain("the log is attached");
  expect(it.said("tell")).toHaveLength(1);

  const quiet = started();
  quiet.give(mention("mute", { first: false }));
  quiet.performAll();
  quiet.give(reply("among us", { files: true }));
  expect(quiet.thread().effects).toEqual([]);

  const asked = story();
  asked.give(mention("look at this", { files: true }));
  expect(asked.effects("create")).toHaveLength(1);
  expect(asked.said("tell")[0]).toContain("Files stay here");
});

test("a reply of invisible characters is not sent to the agent", () => {
  const it = started();
  it.give(reply("\u200b\u2060"));
  expect(it.effects("follow-up")).toEqual([]);
});

test("replies in places without a run are ignored", () => {
  const it = story();
  expect(it.give(reply("hello"))).toBe("ignore");
});

test("a reply under a card of ours that is not saved yet is redelivered", () => {
  const it = story();
  expect(it.give(reply("quick one", { underOurs: true }))).toBe("again");
});

test("muting keeps replies from the agent, but not mentions", () => {
  const it = started();
  it.give(mention("mute", { first: false }));
  it.performAll();
  expect(it.give(reply("between us"))).toBe("ignore");
  it.give(mention("for you", { first: false }));
  expect(it.one("follow-up").message).toContain("for you");
  it.give(mention("unmute", { first: false }));
  it.performAll();
  expect(it.give(reply("for you again"))).toBe("keep");
});

test("a reply without a mention is ignored if the settings require mentions", () => {
  const it = started({ replies: "mention" });
  expect(it.give(reply("hello"))).toBe("ignore");
});

test("a reply continues an ended run, whose next end is reported too", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  expect(it.settled()).toBe(true);
  it.give(reply("one more thing"));
  it.done("follow-up", {});
  expect(it.thread().runs[0]?.open).toBe(true);
  it.run("SUCCEEDED", 12);
  it.done("answer", { text: "Did that too.", answered: 2 });
  expect(it.said("reply").join()).toContain("Did that too.");
});

test("ends of earlier turns that lists show late, after the last follow-up, leave the run followed", () => {
  const it = started();
  for (const words of ["one more thing", "and another"]) {
    it.give(reply(words));
    it.done("follow-up", {});
  }
  for (const second of [10, 14]) {
    it.run("SUCCEEDED", second);
    it.performAll();
    expect(it.thread().runs[0]?.open).toBe(true);
    it.run("QUEUED", second + 2);
  }
});

test("an end is reported once, although sweeps show it repeatedly", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  const { effects } = it.thread();
  it.run("SUCCEEDED", 10);
  it.run("SUCCEEDED", 11);
  expect(it.thread().effects.filter((effect) => effect.kind === "answer")).toHaveLength(1);
  expect(effects.filter((effect) => effect.kind === "answer")).toHaveLength(1);
});

test("an unchanged run changes nothing", () => {
  const it = started();
  it.run("INPROGRESS", 5);
  const before = it.thread();
  it.run("INPROGRESS", 5);
  expect(it.thread()).toBe(before);
});

test("a snapshot that the run has passed does not replace a later one", () => {
  const it = started();
  it.run("INPROGRESS", 5);
  it.run("SUCCEEDED", 10);
  it.run("INPROGRESS", 5);
  expect(it.thread().runs[0]?.run?.state).toBe("SUCCEEDED");
});

test("an end is told though its time is before that of the last snapshot", () => {
  const it = started();
  it.run("INPROGRESS", 130);
  it.run("SUCCEEDED", 20);
  expect(it.effects("answer").map(({ run }) => run.state)).toEqual(["SUCCEEDED"]);
});

test("of three questions each is told once, whatever their times, and none again when it is seen again", () => {
  const it = started();
  for (const [asked, answered] of [
    [130, 140],
    [20, 30],
    [25, 26],
  ] as const) {
    it.run("BLOCKED", asked);
    expect(it.effects("answer")).toHaveLength(1);
    it.performAll();
    it.run("INPROGRESS", answered);
    it.run("BLOCKED", asked);
    expect(it.effects("answer")).toEqual([]);
  }
});

test("a run that is at a passed question again is followed there, and only a new answer is told", () => {
  const it = started();
  it.run("BLOCKED", 10);
  it.performAll();
  it.run("INPROGRESS", 10);
  const again = () => it.give({ kind: "run", run: runAt("BLOCKED", 10), isLasting: true });
  again();
  it.done("answer", { text: "All green now.", answered: 2 });
  expect(it.thread().runs[0]?.run?.state).toBe("BLOCKED");
  expect(it.said("reply")).toEqual([]);
  it.run("INPROGRESS", 10);
  it.run("INPROGRESS", 11);
  again();
  it.done("answer", { text: "And now?", answered: 4 });
  expect(it.said("reply").join()).toContain("And now?");
});

test("an end that an older one replaced, which was read late, is not told again when the run is at it again", () => {
  const it = started();
  it.run("ERROR", 30);
  it.done("answer", { text: "It broke.", answered: 4 });
  it.performAll();
  it.run("SUCCEEDED", 20);
  it.done("answer", { text: null, answered: 4 });
  expect(it.said("reply")).toHaveLength(1);
  it.performAll();
  const again = () => it.give({ kind: "run", run: runAt("ERROR", 30), isLasting: true });
  again();
  it.done("answer", { text: null, answered: 4 });
  expect(it.said("reply")).toEqual([]);
  expect(it.thread().runs[0]?.run?.state).toBe("ERROR");
  it.run("QUEUED", 40);
  again();
  it.fails("answer");
  expect(it.said("reply")).toEqual([]);
});

test.each(["Fixed.", ""])(
  "an end that lists show only after a later one was reported is told with its own answer: “%s”",
  (text) => {
    const it = started();
    it.run("SUCCEEDED", 30);
    it.done("answer", { text: "And the docs.", answered: 4 });
    it.performAll();
    it.give(reply("more"));
    it.done("follow-up", {});
    it.run("SUCCEEDED", 31);
    it.performAll();
    it.run("SUCCEEDED", 20);
    expect(it.effects("answer")).toMatchObject([{ reported: "passed-over" }]);
    const before = it.thread().runs[0];
    it.done("answer", { text, answered: before?.answered ?? 0 });
    expect(it.said("reply").join()).toContain(text || "The agent left no answer.");
    // How far the later report went stays as it is.
    expect(it.thread().runs[0]).toMatchObject({ answered: before?.answered, silentAt: before?.silentAt });
  },
);

test("what the agent has written since the last report is covered, where the API's clock was set back", () => {
  const it = started();
  it.run("SUCCEEDED", 30);
  it.done("answer", { text: null, answered: 4 });
  it.performAll();
  it.give(reply("more"));
  it.done("follow-up", {});
  it.run("SUCCEEDED", 31);
  it.performAll();
  it.run("SUCCEEDED", 20);
  it.done("answer", { text: "And the docs.", answered: 6 });
  expect(it.thread().runs[0]).toMatchObject({ answered: 6, silentAt: null });
});

test("an end after a follow-up with an unknown outcome is told, while the follow-up is still looked up", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  it.give(reply("one more thing"));
  it.fails("follow-up", { retryable: true, certainty: "unknown" });
  expect(it.thread().runs[0]).toMatchObject({ open: true, reopened: true });
  it.fails("follow-up", { retryable: true, certainty: "unknown", searching: true });
  it.run("SUCCEEDED", 20);
  it.done("answer", { text: "All green now.", answered: 2 });
  expect(it.said("reply")).toHaveLength(1);
  it.performAll();
  // Found at last: the end is told already.
  it.run("SUCCEEDED", 20);
  expect(it.effects("answer")).toEqual([]);
});

test.each([
  ["SUCCEEDED", "succeeded"],
  ["FAILED", "failed"],
  ["ERROR", "the agent service had an error"],
  ["CANCELLED", "cancelled"],
  ["BLOCKED", "needs your answer"],
])("%s is told, with the answer, whoever asked, and the links", (state, word) => {
  const it = started();
  const artifacts = [
    { artifact_type: "PULL_REQUEST", data: { url: "https://github.com/octo/app/pull/9", branch: "b" } },
  ];
  it.run(state, 65, {
    artifacts,
    session_link: "https://runs.example.com/1",
    status_message: { message: "tests fail" },
  });
  it.performAll();
  const it2 = started();
  it2.run(state, 65, {
    artifacts,
    session_link: "https://runs.example.com/1",
    status_message: { message: "tests fail" },
  });
  it2.done("answer", { text: "I tried.", answered: 2 });
  const [said = ""] = it2.said("reply");
  expect(said).toContain(word);
  expect(said).toContain("@alice");
  expect(said).toContain("I tried.");
  expect(said).toContain("Pull request octo/app#9 (https://github.com/octo/app/pull/9)");
  expect(said).toContain("https://runs.example.com/1");
  if (state !== "SUCCEEDED") expect(said).toContain("tests fail");
  if (state !== "BLOCKED") expect(said).toContain("1 min 3 s");
  it2.performAll();
  expect(it2.settled()).toBe(state !== "BLOCKED");
});

test("an end whose answer can't be read is reported without it", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  for (let tries = 0; tries < 4; tries += 1) it.fails("answer", { retryable: true });
  expect(it.said("reply")).toEqual([]);
  it.wait(120);
  it.fails("answer", { retryable: true });
  expect(it.said("reply")[0]).toContain("could not read the agent's answer");
});

test("an answer waits out any number of rate limits", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  for (let tries = 0; tries < 20; tries += 1) {
    it.wait(60);
    it.fails("answer", { retryable: true, limited: true });
  }
  expect(it.said("reply")).toEqual([]);
  it.done("answer", { text: "All green now.", answered: 2 });
  expect(it.said("reply")[0]).toContain("All green now.");
});

test("the card says that a follow-up or a cancellation waits until it has succeeded", () => {
  const it = started();
  it.run("INPROGRESS", 10);
  it.performAll();
  it.give(reply("and the docs"));
  it.fails("follow-up", { retryable: true });
  expect(it.effects("card")).toEqual([]);
  it.fails("follow-up", { retryable: true });
  expect(it.said("card")[0]).toContain("Waiting: a message has not reached the agent yet. no");
  it.done("follow-up", {});
  expect(it.said("card")[0]).not.toContain("Waiting");
  it.performAll();
  it.give(press("cancel", it.thread().runs[0]?.dispatch ?? ""));
  it.wait(60);
  it.fails("cancel", { retryable: true });
  expect(it.said("card")[0]).toContain("Waiting: the run could not be cancelled yet. no");
  it.done("cancel", {});
  expect(it.said("card")[0]).not.toContain("Waiting");
});

test("the card no longer waits for a follow-up that was given up", () => {
  const it = started();
  it.run("INPROGRESS", 10);
  it.performAll();
  it.give(reply("and the docs"));
  for (let tries = 0; tries < 2; tries += 1) it.fails("follow-up", { retryable: true });
  it.fails("follow-up", { retryable: false });
  expect(it.said("card")[0]).not.toContain("Waiting");
  expect(it.said("tell")[0]).toContain("did not reach the agent");
});

test("a state that is unknown to us is shown by its name, and the run is followed further", () => {
  const it = started();
  it.run("HIBERNATING", 10);
  expect(it.said("card")[0]).toContain("State: HIBERNATING");
  expect(it.thread().runs[0]?.open).toBe(true);
});

test("of several pending edits only the last is sent, even while another is being sent", () => {
  const it = started();
  it.run("PENDING", 5);
  const first = it.one("card");
  it.run("INPROGRESS", 6);
  expect(it.effects("card")).toHaveLength(1);
  it.outcome(first.id, {
    ok: true,
    kind: "card",
    revision: first.revision,
    message: "card-1",
    place: placeAt(first.at),
  });
  expect(it.said("card")[0]).toContain("In progress");
  it.performAll();
  expect(it.effects("card")).toEqual([]);
});

test("state labels follow on GitHub", () => {
  const it = story();
  it.give(labelled());
  it.performAll();
  const seen: string[] = [];
  for (const [index, state] of ["QUEUED", "INPROGRESS", "BLOCKED", "INPROGRESS", "SUCCEEDED"].entries()) {
    it.run(state, 10 + index);
    seen.push(...it.effects("label").map((effect) => effect.label));
    it.performAll();
  }
  expect(seen).toEqual(["agent:running", "agent:blocked", "agent:running", "agent:done"]);
});

test("comments by people without write access are not sent to the agent, and a note says so once", () => {
  const it = story();
  it.give(labelled());
  it.performAll();
  const mallory = {
    platform: "github",
    id: "mallory",
    name: "mallory",
    bot: false,
    permission: "unknown",
  } as const;
  for (const text of ["drop the tables", "please?"]) {
    it.give(comment(text, { by: mallory }));
    it.done("permission", { permission: "read" });
  }
  expect(it.effects("follow-up")).toEqual([]);
  expect(it.said("tell")).toHaveLength(1);
  expect(it.said("tell")[0]).toContain("Not sent to the agent");
});

test("a second cancel gets a note that one is under way; a refused cancel is reported with its reason", () => {
  const it = started();
  const { dispatch } = it.thread().runs[0] ?? { dispatch: "" };
  it.give(press("cancel", dispatch));
  it.give(press("cancel", dispatch));
  expect(it.effects("cancel")).toHaveLength(1);
  expect(it.said("tell").join()).toContain("already being cancelled");
  it.fails("cancel", { reason: "This kind of run can't be cancelled." });
  expect(it.said("tell").join()).toContain("This kind of run can't be cancelled.");
  expect(it.thread().runs[0]?.cancelling).toBe(false);
});

test("a run that goes on though the API accepted its cancellation can be cancelled again", () => {
  const it = started();
  const { dispatch } = it.thread().runs[0] ?? { dispatch: "" };
  it.give(press("cancel", dispatch));
  it.performAll();
  it.run("INPROGRESS", 60);
  it.give(mention("cancel", { first: false }));
  expect(it.effects("cancel")).toHaveLength(1);
});

test("an ended run is not cancelled, and the person gets a note", () => {
  const it = started();
  it.run("SUCCEEDED", 10);
  it.performAll();
  it.give(mention("cancel", { first: false }));
  expect(it.effects("cancel")).toEqual([]);
  expect(it.said("tell")[0]).toContain("already ended");
});

test("a command that names a run is handed to the thread that has it", () => {
  const it = story();
  it.give(slash("cancel run-1"));
  const { event, ref } = it.one("hand-over");
  expect(ref).toBe("run:run-1");
  const home = started();
  home.give(event);
  expect(home.one("cancel").asked.id).toBe(event.id);
  it.done("hand-over", { taken: true });
  expect(it.settled()).toBe(true);
});

test("a command about a run whose id its own thread gets only now is carried out there, once", () => {
  const it = story();
  it.give(mention("fix it"));
  it.done("card", { revision: 1, message: "c", place });
  it.give(mention("cancel run-1", { id: "m-2", first: false }));
  expect(it.one("hand-over").ref).toBe("run:run-1");
  it.done("create", { runId: "run-1", state: "QUEUED" });
  // The thread that has the run is this one: it knows the event.
  expect(it.give(it.one("hand-over").event)).toBe("keep");
  expect(it.effects("cancel")).toEqual([]);
  it.done("hand-over", { taken: true });
  expect(it.one("cancel").asked.id).toBe("m-2");
});

test("a run's id gives no rights in another channel", () => {
  const home = started();
  home.give(slash("cancel run-1", { scope: "slack:T1:C2" }));
  expect(home.effects("cancel")).toEqual([]);
  expect(home.said("tell")[0]).toContain("belongs to another channel");
});

test("a command handed over for an unknown run is not handed over again", () => {
  const home = started();
  home.give(slash("cancel run-7"));
  expect(home.effects("hand-over")).toEqual([]);
  expect(home.said("tell")[0]).toContain("I don't follow a run run-7 here");
});

test("cancel without a run and a place means the only unfinished run of the channel", () => {
  const here = { "agent-runs-bot.scope": channel };
  const it = story();
  it.give(slash("cancel"));
  it.done("list", {
    runs: [
      runAt("SUCCEEDED", 9, { run_id: "run-3", metadata: here }),
      runAt("INPROGRESS", 8, { run_id: "run-2", metadata: here }),
      runAt("INPROGRESS", 7, { run_id: "run-1", metadata: { "agent-runs-bot.scope": "slack:T1:C2" } }),
    ],
  });
  expect(it.one("hand-over")).toMatchObject({
    ref: "run:run-2",
    event: { command: { kind: "cancel", run: "run-2" } },
  });
  const two = story();
  two.give(slash("cancel"));
  two.done("list", {
    runs: [1, 2].map((n) => runAt("INPROGRESS", n, { run_id: `run-${n}`, metadata: here })),
  });
  expect(two.effects("hand-over")).toEqual([]);
  expect(two.said("tell")[0]).toContain("Which one?");
});

test("list shows the runs of this channel alone", () => {
  const it = story();
  it.give(slash("list"));
  it.done("list", {
    runs: [
      runAt("SUCCEEDED", 9, { run_id: "ours", metadata: { "agent-runs-bot.scope": channel } }),
      runAt("SUCCEEDED", 9, { run_id: "theirs", metadata: { "agent-runs-bot.scope": "slack:T1:C2" } }),
    ],
  });
  expect(it.said("tell")[0]).toContain("ours");
  expect(it.said("tell")[0]).not.toContain("theirs");
});

test("status in a thread is answered at once, privately, from the saved record", () => {
  const it = started();
  it.run("INPROGRESS", 5);
  it.performAll();
  it.give(mention("status", { first: false }));
  expect(it.one("tell").person).toEqual(alice);
  expect(it.said("tell")[0]).toContain("In progress");
});

test("help and unknown commands get a private reply and leave nothing pending", () => {
  const it = story();
  it.give(slash("help"));
  expect(it.said("tell")[0]).toContain("run <prompt>");
  it.performAll();
  expect(it.settled()).toBe(true);
  const wrong = story();
  wrong.give(slash("fix the test"));
  expect(wrong.said("tell")[0]).toContain("run fix the test");
  expect(wrong.thread().runs).toEqual([]);
});
