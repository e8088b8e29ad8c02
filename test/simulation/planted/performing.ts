/** Promises 3, 4 and 7: order, looking up before repeating, and rate limits. */
import type { Decide } from "#core/decide/decide.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Thread } from "#core/thread.ts";
import type { Planted } from "./planted.ts";

/** Decides as before, then has the thread changed. */
const changing =
  (change: (thread: Thread) => Thread) =>
  (decide: Decide): Decide =>
  (thread, event, now) => {
    const decision = decide(thread, event, now);
    return decision.kind === "keep" && decision.thread !== thread
      ? { kind: "keep", thread: change(decision.thread) }
      : decision;
  };

const mapFault = (outcome: Outcome, change: object): Outcome =>
  outcome.ok || outcome.fault.limited !== true
    ? outcome
    : { ok: false, fault: { ...outcome.fault, ...change } };

export const performing: readonly Planted[] = [
  {
    name: "each effect has a lane of its own",
    promise: 3,
    plant: {
      decide: changing((thread) => ({
        ...thread,
        effects: thread.effects.map((effect) => ({ ...effect, to: `read ${effect.id}` as const })),
      })),
    },
  },
  {
    name: "what was decided last is done first",
    promise: 3,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep") return decision;
        const before = new Set(thread?.effects.map(({ id }) => id));
        const added = decision.thread.effects.filter(({ id }) => !before.has(id));
        if (added.length === 0) return decision;
        const kept = decision.thread.effects.filter(({ id }) => before.has(id));
        return { kind: "keep", thread: { ...decision.thread, effects: [...added, ...kept] } };
      },
    },
  },
  {
    name: "one hanging platform holds up the other",
    promise: 3,
    plant: (() => {
      const last = new WeakMap<object, Promise<unknown>>();
      return {
        platform: (platform, life) => ({
          ...platform,
          perform: (effect, attempt) => {
            const performed = (last.get(life) ?? Promise.resolve()).then(() =>
              platform.perform(effect, attempt),
            );
            last.set(life, performed);
            return performed;
          },
        }),
      };
    })(),
  },
  {
    name: "a post of unknown fate is repeated unseen",
    promise: 4,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect) => platform.perform(effect, { uncertain: false }),
      }),
    },
  },
  {
    name: "a post that a crash cut off is repeated unseen",
    promise: 4,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect, { uncertain }) =>
          platform.perform(effect, { uncertain: uncertain && effect.tries > 0 }),
      }),
    },
  },
  {
    name: "a dispatch of unknown fate is repeated unseen",
    promise: 4,
    plant: {
      service: (service) => ({
        ...service,
        list: async (query) =>
          query.sort_by === "created_at"
            ? { runs: [], page_info: { has_next_page: false } }
            : service.list(query),
      }),
    },
  },
  {
    name: "a dispatch is looked for on the first page only",
    promise: 4,
    plant: {
      service: (service) => ({
        ...service,
        // As small as a busy service's first page is beside all that it has
        list: async (query) => ({
          ...(await service.list({ ...query, limit: 1 })),
          page_info: { has_next_page: false },
        }),
      }),
    },
  },
  {
    name: "a follow-up of unknown fate is repeated unseen",
    promise: 4,
    plant: {
      service: (service) => ({
        ...service,
        messages: async (runId) =>
          (await service.messages(runId))?.map(({ role, text }) => ({
            role,
            text: text.replace(/^Reference: .*$/m, ""),
          })) ?? null,
      }),
    },
  },
  {
    name: "what meets a rate limit is dropped",
    promise: 7,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: async (effect, attempt) => {
          const outcome = await platform.perform(effect, attempt);
          return effect.kind === "reply" ? mapFault(outcome, { retryable: false }) : outcome;
        },
      }),
    },
  },
  {
    name: "Retry-After is not obeyed",
    promise: 7,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: async (effect, attempt) =>
          mapFault(await platform.perform(effect, attempt), { limited: false, retryAfterMs: 0 }),
      }),
    },
  },
  {
    name: "of several edits the last is lost",
    promise: 7,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: async (effect, attempt) => {
          const outcome = await platform.perform(effect, attempt);
          return outcome.ok && outcome.kind === "card" ? { ...outcome, revision: 1_000 } : outcome;
        },
      }),
    },
  },
];
