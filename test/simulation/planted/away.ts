/** Promises 2, 5 and 10 in a world that steps and goes away: clocks, platforms, catch-up, and late words. */
import type { ReplyEvent } from "#core/event.ts";
import type { Clock } from "#ports.ts";
import { ThreadUnreadable } from "#test/simulation/world/disk.ts";
import type { Weather } from "#test/simulation/world/weather.ts";
import type { Planted } from "./planted.ts";

const minute = 60_000;

/** Fires when the wall clock shows that the time is over. */
const byWallClock = (clock: Clock): Clock => ({
  ...clock,
  after(ms, then) {
    const until = clock.now() + ms;
    let callOff = (): void => {};
    const look = (): void => {
      const leftMs = until - clock.now();
      callOff = leftMs <= 0 ? clock.after(0, then) : clock.after(Math.min(leftMs, minute), look);
    };
    look();
    return () => callOff();
  },
});

const isSetBack = ({ clocks }: Weather): boolean => clocks.bot.steps.some(({ byMs }) => byMs < -10 * minute);

const isOvertaking = (event: unknown): event is ReplyEvent =>
  typeof event === "object" && event !== null && "kind" in event && event.kind === "reply";

export const away: readonly Planted[] = [
  {
    name: "a change with an older time is ignored",
    promise: 5,
    features: ["apiSteps"],
    when: ({ clocks }) => clocks["agent-runs"].steps.some(({ byMs }) => byMs < -minute),
    plant: {
      decide: (decide) => (thread, event, now) => {
        if (thread === null || event.kind !== "run") return decide(thread, event, now);
        const last = thread.runs.find(({ runId }) => runId === event.run.run_id)?.run;
        const isOlder = last && Date.parse(event.run.updated_at) < Date.parse(last.updated_at);
        return isOlder ? { kind: "keep", thread } : decide(thread, event, now);
      },
    },
  },
  {
    name: "an end that was found before a follow-up is not told",
    promise: 5,
    breaks: "an end is told",
    plant: {
      decide: (decide) => (thread, event, now) => {
        if (thread === null || event.kind !== "run") return decide(thread, event, now);
        const isPending = thread.effects.some(({ kind }) => kind === "follow-up");
        return isPending && event.followUps === undefined
          ? { kind: "keep", thread }
          : decide(thread, event, now);
      },
    },
  },
  {
    name: "timers run by the wall clock",
    features: ["delays"],
    promise: 10,
    when: isSetBack,
    plant: { clock: byWallClock },
  },
  {
    name: "a stored wait is believed, whatever its length",
    promise: 10,
    features: ["delays", "ownSteps"],
    when: isSetBack,
    breaks: "work is done soon",
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep") return decision;
        const effects = decision.thread.effects.map((effect) =>
          effect.waitMs === undefined ? effect : { ...effect, waitMs: 7 * 24 * 60 * minute },
        );
        return { kind: "keep", thread: { ...decision.thread, effects } };
      },
    },
  },
  {
    name: "the effects of a platform that is not configured are dropped",
    promise: 10,
    features: ["absence"],
    when: ({ absenceRate, crashSteps }) => absenceRate > 0 && crashSteps.size > 1,
    plant: {
      absent: (name) => ({
        name,
        check: async () => {},
        perform: async () => ({
          ok: false,
          fault: { certainty: "refused", retryable: false, reason: "Not connected.", code: "not_connected" },
        }),
      }),
    },
  },
  {
    name: "nothing is read back",
    promise: 10,
    features: ["catchUp"],
    when: ({ catchUpMs, crashSteps }) => catchUpMs !== null && crashSteps.size > 0,
    breaks: "no silence",
    plant: { platform: (platform) => ({ ...platform, missed: async () => [] }) },
  },
  {
    name: "only places with an unfinished run are read back",
    promise: 10,
    features: ["catchUp"],
    when: ({ catchUpMs, crashSteps }) => catchUpMs !== null && crashSteps.size > 0,
    breaks: "no silence",
    plant: {
      platform: (platform, _, { disk }) => ({
        ...platform,
        missed: async (look) => {
          const isOpen = (place: string | null): boolean =>
            disk.threads.get(disk.lead(place ?? ""))?.runs.some(({ open }) => open) === true;
          const events = (await platform.missed?.(look)) ?? [];
          return events.filter(({ place }) => isOpen(place));
        },
      }),
    },
  },
  {
    name: "a reply that comes before its mention is dropped",
    promise: 2,
    features: ["overtaking"],
    when: ({ overtaking }) => overtaking,
    breaks: "no silence",
    plant: {
      accept:
        (accept, { disk }) =>
        async (event) => {
          const isUnknown = event.place !== null && !disk.threads.has(disk.lead(event.place));
          if (isOvertaking(event) && isUnknown && !event.mention && !event.underOurs) return "ignored";
          return accept(event);
        },
    },
  },
  {
    name: "the bot is deaf while it starts",
    promise: 1,
    breaks: "whoever listens answers",
    plant: {
      accept:
        (accept, { clock }) =>
        async (event) => {
          if (clock.elapsed() < 2_000) throw new Error("The bot is starting.");
          return accept(event);
        },
    },
  },
  {
    name: "one document that can't be read ends the bot at its start",
    promise: 6,
    features: ["unreadable"],
    when: ({ unreadableRate, crashSteps }) => unreadableRate > 0 && crashSteps.size > 0,
    breaks: "the bot starts",
    plant: {
      store: (store, disk) => ({
        ...store,
        async *unsettled() {
          if (disk.unreadable !== null) throw new ThreadUnreadable(disk.unreadable);
          yield* store.unsettled();
        },
      }),
    },
  },
  {
    name: "a search reads all runs, up to a number of pages",
    features: ["delays"],
    promise: 4,
    weather: { cutRate: 0.5, actsMs: 20_000, acts: 3 },
    breaks: "work is done soon",
    plant: {
      service: (service) => ({
        ...service,
        list: async (query) => {
          if (query.sort_by !== "created_at") return service.list(query);
          // Other people's runs, without an end.
          const { runs, servedAt } = await service.list({ limit: 1 });
          const page = Number(query.cursor ?? 0) + 1;
          const others = runs.map((run) => ({ ...run, run_id: `other-${page}`, prompt: "", metadata: {} }));
          return { runs: others, servedAt, page_info: { has_next_page: true, next_cursor: String(page) } };
        },
      }),
    },
  },
  {
    name: "a rate limit on edits holds up new cards",
    promise: 7,
    weather: { editLimitRate: 0.6, faultRate: 0, outages: [], slowestWriteMs: 20 },
    breaks: "edits hold up no request",
    plant: (() => {
      return {
        platform: (platform, _, { clock }) => {
          let until = 0;
          return {
            ...platform,
            perform: async (effect, attempt) => {
              const waitMs = effect.kind === "card" ? until - clock.now() : 0;
              if (waitMs > 0) await new Promise<void>((resolve) => clock.after(waitMs, resolve));
              const outcome = await platform.perform(effect, attempt);
              if (effect.kind === "card" && !outcome.ok && outcome.fault.limited === true) {
                until = clock.now() + (outcome.fault.retryAfterMs ?? 0);
              }
              return outcome;
            },
          };
        },
      };
    })(),
  },
];
