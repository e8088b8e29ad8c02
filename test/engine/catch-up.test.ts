import { expect, test } from "vitest";
import type { PersonEvent } from "#core/event.ts";
import { createTimers } from "#engine/base/timers.ts";
import { createCatchUp } from "#engine/catch-up.ts";
import { createEngine } from "#engine/engine.ts";
import type { Missed, Notes } from "#ports.ts";
import { createHandClock } from "#test/support/engine/hand-clock.ts";
import { command, create, setUp } from "#test/support/engine/set-up.ts";
import { newThread } from "#test/support/engine/small-decide.ts";
import { createStandInPlatform } from "#test/support/engine/stand-in-platform.ts";
import { recordingLog, silentLog } from "#test/support/logs.ts";

const minute = 60_000;

/** An engine with a platform `chat` that has missed events; `notes` survives a restart. */
function begin(made = setUp(), notes = new Map<string, string>()) {
  const looks: Missed[] = [];
  const state = { missed: [] as PersonEvent[], down: false, repeats: false };
  const clock = made.clock;
  const chat = {
    ...createStandInPlatform("chat"),
    missed: async (look: Missed) => {
      looks.push(look);
      if (state.down) throw new Error("chat does not answer");
      if (state.repeats)
        look.keep?.("all read", undefined, (early) => `all but ${early.map(({ id }) => id)}`);
      return state.missed;
    },
  };
  const kept: Notes = {
    note: async (name) => notes.get(name) ?? null,
    keepNote: async (name, text) => void notes.set(name, text),
  };
  const { log, lines: logged } = recordingLog();
  const engine = createEngine({
    store: made.store,
    agentRuns: made.api,
    transcripts: made.api,
    factories: made.api,
    platforms: [chat],
    decide: made.small.decide,
    clock,
    log,
    runName: "bot",
    pollIntervalMs: 2_000,
    catchUp: { notes: kept, intervalMs: 5 * minute },
  });
  return {
    engine,
    looks,
    state,
    notes,
    kept,
    clock,
    logged,
    asks: made.small.asks,
    store: made.store,
    again: () => begin(made, notes),
  };
}

test("the first start ever recovers nothing, and the next searches back to it, with an overlap", async () => {
  const first = begin();
  const firstAt = first.clock.now();
  first.state.missed = [command("chat:C1:1", { id: "e1" })];
  await first.engine.start();
  await first.clock.advance(0);
  expect(await first.store.find("chat:C1:1")).toBeNull();
  await first.engine.stop();
  await first.clock.advance(60 * minute);
  const second = first.again();
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.looks).toHaveLength(1);
  expect(Date.parse(second.looks[0]?.since ?? "")).toBe(firstAt - 15 * minute);
  await second.engine.stop();
});

test("the platform's own time is kept from the first start on", async () => {
  const first = begin();
  first.state.repeats = true;
  await first.engine.start();
  await first.clock.advance(0);
  await first.engine.stop();
  const second = first.again();
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.looks[0]?.kept).toBe("all read");
  await second.engine.stop();
});

test("a first search that fails is followed by one that recovers what happened since the start", async () => {
  const first = begin();
  first.state.down = true;
  await first.engine.start();
  await first.clock.advance(0);
  await first.engine.stop();
  const second = first.again();
  second.state.missed = [command("chat:C1:1", { id: "e1" })];
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.store.get("chat:C1:1").seen).toEqual(["e1"]);
  await second.engine.stop();
});

test("a missed event is saved once, and the scopes to search are saved", async () => {
  const first = begin();
  await first.engine.start();
  await first.engine.accept(command("chat:C1:1", { id: "e1" }));
  await first.clock.advance(0);
  await first.engine.stop();
  const second = first.again();
  second.state.missed = [command("chat:C1:2", { id: "e2" })];
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.looks[0]?.scopes).toEqual(["chat:room"]);
  expect(second.store.get("chat:C1:2").seen).toEqual(["e2"]);
  await second.clock.advance(5 * minute);
  expect(second.looks).toHaveLength(2);
  expect(second.store.get("chat:C1:2").seen).toEqual(["e2"]);
  await second.engine.stop();
});

test("a failed search is repeated from the end of the last one, and logged once", async () => {
  const first = begin();
  await first.engine.start();
  await first.clock.advance(0);
  first.state.down = true;
  await first.clock.advance(60 * minute);
  const tried = first.looks.length;
  expect(tried).toBeGreaterThan(3);
  expect(new Set(first.looks.map(({ since }) => since)).size).toBe(1);
  expect(first.logged.filter(({ message }) => message.includes("can't be recovered"))).toHaveLength(1);
  expect(first.engine.status().gaps.get("chat")).toEqual([
    "What happened while the bot was away can't be read back now. chat does not answer",
  ]);
  first.state.down = false;
  await first.clock.advance(10 * minute);
  expect(first.logged.filter(({ message }) => message.includes("can be recovered again"))).toHaveLength(1);
  expect(new Set(first.looks.slice(tried).map(({ since }) => since)).size).toBeGreaterThan(1);
  await first.engine.stop();
});

test("a missed event that comes before its thread is saved is recovered again", async () => {
  const made = begin();
  await made.engine.start();
  await made.clock.advance(0);
  const until = made.notes.get("heard-until-chat");
  made.state.missed = [command("chat:C1:9", { id: "e9" })];
  made.asks.set("e9", "again");
  await made.clock.advance(30 * minute);
  expect(made.notes.get("heard-until-chat")).toBe(until);
  made.asks.delete("e9");
  await made.clock.advance(10 * minute);
  expect(made.store.get("chat:C1:9").seen).toEqual(["e9"]);
  await made.engine.stop();
});

test("a platform that can repeat one event does not repeat its search for an event that came too early", async () => {
  const made = begin();
  await made.engine.start();
  await made.clock.advance(0);
  Object.assign(made.state, { repeats: true, missed: [command("chat:C1:9", { id: "e9" })] });
  made.asks.set("e9", "again");
  await made.clock.advance(6 * minute);
  expect(made.notes.get("kept-chat")).toBe("all but e9");
  made.asks.delete("e9");
  await made.clock.advance(6 * minute);
  expect(made.notes.get("kept-chat")).toBe("all read");
  expect(made.logged.filter(({ message }) => message.includes("can't be recovered"))).toEqual([]);
  await made.engine.stop();
});

test("missed events that can't be saved are recovered again", async () => {
  const made = begin();
  await made.engine.start();
  await made.clock.advance(0);
  made.state.missed = [command("chat:C1:9", { id: "e9" })];
  made.store.broken = new Error("the disk is full");
  await made.clock.advance(6 * minute);
  made.store.broken = null;
  await made.clock.advance(10 * minute);
  expect(made.store.get("chat:C1:9").seen).toEqual(["e9"]);
  await made.engine.stop();
});

test("an event that can't be saved holds back the later ones of its place only, so that they are saved in order", async () => {
  const made = begin();
  await made.engine.start();
  await made.clock.advance(0);
  made.state.missed = [
    command("chat:C1:1", { id: "e1" }),
    command("chat:C1:1", { id: "e2" }),
    command("chat:C1:2", { id: "e3" }),
  ];
  const change = made.store.change.bind(made.store);
  made.store.change = async () => {
    made.store.change = change;
    throw new Error("the disk is full");
  };
  await made.clock.advance(5 * minute);
  expect(await made.store.find("chat:C1:1")).toBeNull();
  expect(made.store.get("chat:C1:2").seen).toEqual(["e3"]);
  await made.clock.advance(minute);
  expect(made.store.get("chat:C1:1").seen).toEqual(["e1", "e2"]);
  await made.engine.stop();
});

test("an unreadable thread does not stop other events from being saved, and the next search does not repeat them", async () => {
  const made = begin();
  await made.engine.start();
  await made.clock.advance(0);
  made.state.missed = [command("chat:C1:1", { id: "e1" }), command("chat:C1:2", { id: "e2" })];
  const change = made.store.change.bind(made.store);
  const unreadable = Object.assign(new Error("no JSON"), { name: "ThreadUnreadable" });
  made.store.change = (ref, fn) => (ref === "chat:C1:1" ? Promise.reject(unreadable) : change(ref, fn));
  const until = made.notes.get("heard-until-chat");
  await made.clock.advance(11 * minute);
  expect(made.store.get("chat:C1:2").seen).toEqual(["e2"]);
  expect(made.notes.get("heard-until-chat")).not.toBe(until);
  expect(made.logged.filter(({ message }) => message.includes("could not be saved"))).toHaveLength(1);
  await made.engine.stop();
});

test("an event is saved only with its scope, so that no later process forgets to search there", async () => {
  const first = begin();
  await first.engine.start();
  await first.clock.advance(0);
  const { keepNote } = first.kept;
  first.kept.keepNote = async () => Promise.reject(new Error("the disk is full"));
  const event = command("chat:C1:1", { id: "e1" });
  await expect(first.engine.accept(event)).rejects.toThrow("the disk is full");
  first.kept.keepNote = keepNote;
  expect(await first.engine.accept(event)).toBe("saved");
  const second = first.again();
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.looks[0]?.scopes).toEqual(["chat:room"]);
  await first.engine.stop();
  await second.engine.stop();
});

test("a process that dies before the scope of an event is saved leaves it to the next one", async () => {
  const first = begin();
  await first.engine.start();
  await first.clock.advance(0);
  const { keepNote } = first.kept;
  first.kept.keepNote = () => new Promise(() => {});
  first.asks.set("e1", [create("d1")]);
  void first.engine.accept(command("chat:C1:1", { id: "e1" }));
  await first.clock.advance(0);
  expect(first.store.get("chat:C1:1").seen).toEqual(["e1"]);
  first.kept.keepNote = keepNote;
  const second = first.again();
  await second.engine.start();
  await second.clock.advance(0);
  expect(second.looks[0]?.scopes).toEqual(["chat:room"]);
  await second.engine.stop();
});

test("scopes learned during a write are saved after it", async () => {
  const clock = createHandClock();
  const kept: string[] = [];
  let [now, most] = [0, 0];
  const keepNote = async (name: string, text: string): Promise<void> => {
    if (!name.startsWith("scopes")) return;
    now += 1;
    most = Math.max(most, now);
    await new Promise<void>((resolve) => clock.after(1_000, resolve));
    kept.push(text);
    now -= 1;
  };
  const catchUp = createCatchUp({
    platforms: [{ ...createStandInPlatform("chat"), missed: async () => [] }],
    notes: { note: async () => null, keepNote },
    save: async () => ({ answer: "saved", thread: null }),
    timers: createTimers(clock),
    clock,
    log: silentLog,
    intervalMs: minute,
  });
  for (const n of [1, 2, 3]) {
    void catchUp.keepScope(`chat:C${n}`);
    await clock.advance(100);
  }
  await clock.advance(minute);
  expect(most).toBe(1);
  expect(kept.at(-1)?.split("\n")).toEqual(["chat:C1", "chat:C2", "chat:C3"]);
});

/** An ended run's thread. */
const settledThread = (place: string) => newThread(place, { changedAt: "2026-01-01T00:00:00.000Z" });

function settledPlaces() {
  const clock = createHandClock();
  const notes = new Map<string, string>();
  const looks: Missed[] = [];
  const { log, lines } = recordingLog();
  let answer = (_: Missed): PersonEvent[] => [];
  const start = () => {
    const timers = createTimers(clock);
    const catchUp = createCatchUp({
      platforms: [
        {
          ...createStandInPlatform("chat"),
          missed: async (look) => {
            looks.push(look);
            return answer(look);
          },
        },
      ],
      notes: {
        note: async (name) => notes.get(name) ?? null,
        keepNote: async (name, text) => void notes.set(name, text),
      },
      save: async () => {
        throw new Error("the disk is full");
      },
      timers,
      clock,
      log,
      intervalMs: 5 * minute,
    });
    /** Ends it as `kill -9` does. */
    const kill = (): void => timers.close();
    return { catchUp, kill };
  };
  return {
    clock,
    notes,
    looks,
    lines,
    start,
    answers: (fn: typeof answer): void => {
      answer = fn;
    },
  };
}

test("places of settled threads are searched after a restart, the most recent first, for seven days", async () => {
  const { clock, looks, start } = settledPlaces();
  const first = start();
  await first.catchUp.open();
  await clock.advance(0);
  for (const place of ["chat:C1:1", "chat:C1:2"]) first.catchUp.onSaved(settledThread(place));
  const later = new Date(clock.now() + minute).toISOString();
  first.catchUp.onSaved(newThread("chat:C1:1", { changedAt: later }));
  await clock.advance(20_000);
  first.kill();
  await clock.advance(6 * 24 * 60 * minute);
  const second = start();
  await second.catchUp.open();
  await clock.advance(0);
  expect(looks.at(-1)?.lively).toEqual(["chat:C1:1", "chat:C1:2"]);
  expect(looks.at(-1)?.places).toEqual([]);
  await clock.advance(25 * 60 * minute);
  expect(looks.at(-1)?.lively).toEqual([]);
  second.kill();
});

test("at most 2,000 places are remembered", async () => {
  const { clock, looks, notes, start } = settledPlaces();
  const { catchUp, kill } = start();
  await catchUp.open();
  await clock.advance(0);
  for (let n = 0; n < 2_100; n += 1) {
    catchUp.onSaved(newThread(`chat:C1:${n}`, { changedAt: new Date(clock.now() + n).toISOString() }));
  }
  await clock.advance(6 * minute);
  expect(looks.at(-1)?.lively).toHaveLength(2_000);
  expect(looks.at(-1)?.lively?.at(-1)).toBe("chat:C1:100");
  expect(notes.get("lively-chat")?.split("\n")).toHaveLength(2_000);
  kill();
});

test("a platform's own text is kept once the events of its search are saved, and a limit shortens the wait", async () => {
  const { clock, looks, notes, start, answers } = settledPlaces();
  const { catchUp, kill } = start();
  await catchUp.open();
  await clock.advance(0);
  answers((look) => {
    look.keep?.("half", minute);
    return [];
  });
  await clock.advance(5 * minute);
  expect(looks.map(({ kept }) => kept)).toEqual([null, null]);
  expect(notes.get("kept-chat")).toBe("half");
  answers((look) => {
    look.keep?.("lost");
    return [command("chat:C1:1", { id: "e1" })];
  });
  await clock.advance(minute);
  expect(looks.map(({ kept }) => kept)).toEqual([null, null, "half"]);
  expect(notes.get("kept-chat")).toBe("half");
  kill();
});

test.each([
  ["a day", 24 * 60],
  ["some minutes more than the bot was away", 6],
])(
  "a search after the clock was set back by %s goes back as far as events are recovered",
  async (_, minutes) => {
    const first = begin();
    await first.engine.start();
    await first.clock.advance(minute);
    await first.engine.stop();
    first.notes.set("heard-until-chat", new Date(first.clock.now() + minutes * minute).toISOString());
    const { engine, looks, clock } = first.again();
    await engine.start();
    await clock.advance(minute);
    expect(clock.now() - Date.parse(looks[0]?.since ?? "")).toBeGreaterThan(2 * 24 * 60 * minute);
  },
);
