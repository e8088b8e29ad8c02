/** Promises 3, 4 and 7: order, lookups before repetitions, and rate limits. */
import type { Decide } from "#core/decide/decide.ts";
import type { Outcome } from "#core/outcome.ts";
import type { Thread } from "#core/thread.ts";
import type { Planted } from "./planted.ts";

/** Changes each thread that was decided. */
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
    name: "the effects that were decided last are performed first",
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
    name: "a platform that hangs holds up the other one",
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
    name: "a post with an unknown outcome is repeated without a search",
    promise: 4,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect) => platform.perform(effect, { uncertain: false, settlesInMs: 0 }),
      }),
    },
  },
  {
    name: "a post that a crash interrupted is repeated without a search",
    promise: 4,
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect, { uncertain, settlesInMs }) =>
          platform.perform(effect, { uncertain: uncertain && effect.tries > 0, settlesInMs }),
      }),
    },
  },
  {
    name: "a dispatch with an unknown outcome is repeated without a search",
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
    name: "a dispatch is searched for on the first page only",
    promise: 4,
    plant: {
      service: (service) => ({
        ...service,
        // A page of one run, as small as the first page of a busy service is compared to all its runs.
        list: async (query) => ({
          ...(await service.list({ ...query, limit: 1 })),
          page_info: { has_next_page: false },
        }),
      }),
    },
  },
  {
    name: "a follow-up with an unknown outcome is repeated without a search",
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
    name: "an effect that meets a rate limit is dropped",
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
    name: "Retry-After is ignored",
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
    name: "the last of several edits is lost",
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
