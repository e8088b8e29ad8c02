import type { Decide } from "#core/decide/decide.ts";
import type { CardEffect, CreateEffect, Effect, FollowUpEffect, ReplyEffect } from "#core/effect.ts";
import type { CommandEvent } from "#core/event.ts";
import { referenceLine } from "#core/run.ts";
import type { View } from "#core/view.ts";
import type { EngineEvent } from "#engine/base/engine-event.ts";
import type { Limits } from "#engine/base/limits.ts";
import { createEngine, type Engine } from "#engine/engine.ts";
import { type LogLine, recordingLog } from "#test/support/logs.ts";
import { createHandClock, type HandClock } from "./hand-clock.ts";
import { createMemoryStore, type MemoryStore } from "./memory-store.ts";
import { createSmallDecide, person, type SmallDecide } from "./small-decide.ts";
import { StandInApi } from "./stand-in-api.ts";
import { createStandInPlatform, type StandInPlatform } from "./stand-in-platform.ts";

export interface SetUp {
  readonly clock: HandClock;
  readonly store: MemoryStore;
  readonly api: StandInApi;
  readonly chat: StandInPlatform;
  readonly forge: StandInPlatform;
  readonly small: SmallDecide;
  readonly engine: Engine;
  readonly logged: readonly LogLine[];
  readonly observed: EngineEvent[];
  /** Accepts an event of this place that causes the effects. */
  ask(place: string, ...effects: Effect[]): Promise<"saved" | "ignored" | "again">;
  /** Starts another process on the same store, as after `kill -9` of this one. */
  restart(options?: SetUpOptions): SetUp;
}

interface SetUpOptions {
  readonly limits?: Partial<Limits>;
  /** Name of a platform that is not set up. */
  readonly without?: string;
  /** The decisions; small ones that the test plans if absent. */
  readonly decide?: Decide;
}

export function setUp(options: SetUpOptions & { readonly after?: SetUp } = {}): SetUp {
  const { after } = options;
  const clock = after?.clock ?? createHandClock();
  const store = after?.store ?? createMemoryStore();
  const api = after?.api ?? new StandInApi(clock);
  const chat = after?.chat ?? createStandInPlatform("chat");
  const forge = after?.forge ?? createStandInPlatform("forge");
  const small = createSmallDecide();
  const { log, lines: logged } = recordingLog();
  const observed: EngineEvent[] = [];
  const engine = createEngine({
    store,
    agentRuns: api,
    transcripts: api,
    factories: api,
    platforms: [chat, forge].filter(({ name }) => name !== options.without),
    decide: options.decide ?? small.decide,
    clock,
    log,
    runName: "bot",
    pollIntervalMs: 2_000,
    observe: (event) => observed.push(event),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const made: SetUp = {
    clock,
    store,
    api,
    chat,
    forge,
    small,
    engine,
    logged,
    observed,
    ask(place, ...effects) {
      const event = command(place);
      small.asks.set(event.id, effects);
      return engine.accept(event);
    },
    restart: (changed = options) => setUp({ ...changed, after: made }),
  };
  return made;
}

let count = 0;
export const since = "2026-01-01T00:00:00.000Z";

export function command(place: string, more: Partial<CommandEvent> = {}): CommandEvent {
  count += 1;
  return {
    kind: "command",
    id: `e${count}`,
    at: since,
    by: person,
    scope: "chat:room",
    place,
    text: "",
    ...more,
  };
}

const view: View = { tone: "plain", headline: ["hello"], details: [], actions: [] };
const pending = { since, tries: 0 };

export const reply = (id: string, at: string, more: Partial<ReplyEffect> = {}): ReplyEffect => ({
  kind: "reply",
  id,
  to: at,
  at,
  view,
  ...pending,
  ...more,
});

export const card = (
  id: string,
  at: string,
  revision: number,
  more: Partial<CardEffect> = {},
): CardEffect => ({
  kind: "card",
  id,
  to: at,
  at,
  dispatch: "d",
  view,
  revision,
  ...pending,
  ...more,
});

export const create = (dispatch: string, more: Partial<CreateEffect> = {}): CreateEffect => ({
  kind: "create",
  id: `${dispatch}:create`,
  to: "agent-runs",
  dispatch,
  ...pending,
  ...more,
});

export const followUp = (
  id: string,
  dispatch: string,
  more: Partial<FollowUpEffect> = {},
): FollowUpEffect => ({
  kind: "follow-up",
  id,
  to: "agent-runs",
  dispatch,
  message: `also this\n\n${referenceLine(id)}`,
  from: { place: "chat:a", by: person },
  ...pending,
  ...more,
});
