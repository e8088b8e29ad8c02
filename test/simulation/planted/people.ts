/** Promises 5 and 8: messages to people, and permissions. */
import type { Effect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";
import type { Plant } from "#test/simulation/world/bot-process.ts";
import { headline } from "#test/simulation/world/chat.ts";
import type { Planted } from "./planted.ts";

/** Drops the new effects for which `isForgotten` is true. */
const forgetting = (isForgotten: (effect: Effect) => boolean): Plant => ({
  decide: (decide) => (thread, event, now) => {
    const decision = decide(thread, event, now);
    if (decision.kind !== "keep" || !decision.thread.effects.some(isForgotten)) return decision;
    const effects = decision.thread.effects.filter((effect) => !isForgotten(effect));
    return { kind: "keep", thread: { ...decision.thread, effects } };
  },
});

const saying =
  (words: string) =>
  (effect: Effect): boolean =>
    (effect.kind === "reply" || effect.kind === "tell") && headline(effect.view).includes(words);

const believing = (change: (event: PersonEvent) => PersonEvent): Plant => ({
  accept: (accept) => (event) => accept(event.kind === "moved" ? event : change(event)),
});

export const people: readonly Planted[] = [
  { name: "a cancelled run's end is not told", promise: 5, plant: forgetting(saying("was cancelled")) },
  { name: "a BLOCKED is not told", promise: 5, plant: forgetting(saying("needs your answer")) },
  { name: "a refused dispatch is not told", promise: 5, plant: forgetting(saying("could not be started")) },
  { name: "a person without permission is not told so", promise: 5, plant: forgetting(saying("Sorry, ")) },
  { name: "a person who mistypes is not told so", promise: 5, plant: forgetting(saying("I don't know the")) },
  { name: "a lost follow-up is not told", promise: 5, plant: forgetting(saying("did not reach the agent")) },
  {
    name: "a run is made in a locked issue",
    promise: 5,
    plant: believing((event) => {
      if (event.kind === "button" || event.subject === undefined) return event;
      const { locked: _, ...subject } = event.subject;
      return { ...event, subject };
    }),
  },
  {
    name: "an end is told twice",
    promise: 5,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep" || event.kind !== "outcome" || !event.outcome.ok) return decision;
        if (event.outcome.kind !== "answer") return decision;
        const { effects } = decision.thread;
        const before = new Set(thread?.effects.map(({ id }) => id));
        const again = effects
          .filter(({ id, kind }) => kind === "reply" && !before.has(id))
          .map((effect) => ({ ...effect, id: `${effect.id}0` }));
        return { kind: "keep", thread: { ...decision.thread, effects: [...effects, ...again] } };
      },
    },
  },
  {
    name: "the next end of a run that was continued is not told",
    promise: 5,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep" || event.kind !== "outcome" || !event.outcome.ok) return decision;
        if (event.outcome.kind !== "follow-up") return decision;
        const runs = decision.thread.runs.map((run, index) => thread?.runs[index] ?? run);
        return { kind: "keep", thread: { ...decision.thread, runs } };
      },
    },
  },
  {
    name: "an end after a follow-up is final at once",
    promise: 5,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep" || decision.thread === thread) return decision;
        const settlesAt = new Date(now).toISOString();
        const runs = decision.thread.runs.map((run) => (run.settlesAt ? { ...run, settlesAt } : run));
        return { kind: "keep", thread: { ...decision.thread, runs } };
      },
    },
  },
  {
    name: "a snapshot from before a follow-up settles the run",
    promise: 5,
    // A slow disk makes the instant longer at which a follow-up must be taken.
    weather: { acts: 14, actsMs: 600_000, slowestWriteMs: 6_000 },
    from: 300,
    plant: {
      decide: (decide) => (thread, event, now) => {
        if (event.kind !== "run" || event.followUps === undefined) return decide(thread, event, now);
        const record = thread?.runs.find(({ runId }) => runId === event.run.run_id);
        return decide(thread, { ...event, followUps: record?.followUps ?? 0 }, now);
      },
    },
  },
  {
    name: "an unknown permission counts as write access",
    promise: 8,
    plant: believing((event) =>
      event.by.permission === "unknown" ? { ...event, by: { ...event.by, permission: "write" } } : event,
    ),
  },
  {
    name: "read access counts as write access",
    promise: 8,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: async (effect, attempt) => {
          const outcome = await platform.perform(effect, attempt);
          return outcome.ok && outcome.kind === "permission" && outcome.permission === "read"
            ? { ...outcome, permission: "write" }
            : outcome;
        },
      }),
    },
  },
  {
    name: "bots are obeyed",
    promise: 8,
    plant: believing((event) => ({ ...event, by: { ...event.by, bot: false } })),
  },
  {
    name: "the list of permitted people is ignored",
    promise: 8,
    plant: believing((event) =>
      event.by.id === "mallory" ? { ...event, by: { ...event.by, id: "alice" } } : event,
    ),
  },
  {
    name: "an aside is passed on to the agent",
    promise: 8,
    plant: believing((event) =>
      event.kind === "reply" ? { ...event, text: event.text.replace("!aside ", "") } : event,
    ),
  },
  {
    name: "other people's messages reach the agent unquoted",
    promise: 8,
    plant: {
      service: (service) => ({
        ...service,
        create: (request) => service.create({ ...request, prompt: request.prompt.replace(/^> /gm, "") }),
      }),
    },
  },
];
