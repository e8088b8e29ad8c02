/** Promise 4 in a world that lags: settling, unknown outcomes, windows of look-ups, and twins. */

import type { Run } from "#core/run.ts";
import { dispatchOf } from "#core/run.ts";
import type { ApiFault, RunQuery } from "#ports.ts";
import type { Plant } from "#test/simulation/world/bot-process.ts";
import type { Service } from "#test/simulation/world/service/runs-client.ts";
import { Refused } from "#test/simulation/world/service/simulated-run.ts";
import { calmTroubles } from "#test/simulation/world/troubles.ts";
import type { Weather } from "#test/simulation/world/weather.ts";
import type { Planted } from "./planted.ts";

const fails = ({ faultRate, crashSteps }: Weather): boolean => faultRate > 0.05 || crashSteps.size > 0;

/** Takes the failed writes that `isMeant` for ones that did nothing. */
const believing = (isMeant: (fault: ApiFault) => boolean): Plant => ({
  service: (service) => {
    const mistaken = (error: unknown): never => {
      if (error instanceof Refused && isMeant(error))
        throw new Refused({ ...error, reason: error.reason, certainty: "refused" });
      throw error;
    };
    return {
      ...service,
      create: (request) => service.create(request).catch(mistaken),
      followUp: (runId, request) => service.followUp(runId, request).catch(mistaken),
    };
  },
});

const isSearch = (query: RunQuery): boolean => query.sort_by === "created_at";

const searching = (
  search: (service: Service, query: RunQuery, now: () => number) => ReturnType<Service["list"]>,
): Plant => ({
  service: (service, { clock }) => ({
    ...service,
    list: (query) => (isSearch(query) ? search(service, query, clock.now) : service.list(query)),
  }),
});

const noSettling: Plant = { limits: { settlingMs: { "agent-runs": 0 } } };

export const lagging: readonly Planted[] = [
  {
    name: "an uncertain dispatch is repeated without settling",
    promise: 4,
    features: ["lag"],
    when: (weather) => weather.lags.runs > 4_000 && fails(weather),
    breaks: "a dispatch makes exactly one run",
    plant: noSettling,
  },
  {
    name: "an uncertain follow-up is repeated without settling",
    promise: 4,
    features: ["conversationLag", "cuts"],
    when: ({ lags, cutRate }) => lags.conversation > 4_000 && cutRate > 0,
    breaks: "a follow-up arrives exactly once",
    plant: noSettling,
  },
  {
    name: "an uncertain post is repeated without settling",
    promise: 4,
    features: ["lag"],
    when: (weather) => Math.max(weather.lags.slack, weather.lags.github) > 4_000 && fails(weather),
    breaks: "a message is posted once",
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: (effect, { uncertain }) => platform.perform(effect, { uncertain, settlesInMs: 0 }),
      }),
    },
  },
  {
    name: "settling is measured by the wall clock",
    promise: 4,
    features: ["lag", "cuts", "ownSteps"],
    when: (weather) =>
      Math.max(weather.lags.slack, weather.lags.github) > 10_000 &&
      weather.cutRate > 0.2 &&
      weather.clocks.bot.steps.some(({ byMs }) => byMs >= 60_000),
    breaks: "a message is posted once",
    plant: { clock: (clock) => ({ ...clock, elapsed: clock.now }) },
  },
  {
    name: "the window of a search comes from our clock",
    promise: 4,
    features: ["skew"],
    when: ({ clocks, ...weather }) =>
      clocks["agent-runs"].skewMs - clocks.bot.skewMs < -8 * 60_000 && fails({ clocks, ...weather }),
    breaks: "a dispatch makes exactly one run",
    plant: searching(async (service, query, now) => {
      const page = await service.list(query);
      return { ...page, runs: page.runs.filter((run) => Date.parse(run.created_at) > now() - 6 * 60_000) };
    }),
  },
  {
    name: "a post is searched for in a window of our clock",
    promise: 4,
    features: ["skew"],
    when: ({ clocks, ...weather }) =>
      Math.abs(clocks.slack.skewMs - clocks.bot.skewMs) > 2 * 60_000 && fails({ clocks, ...weather }),
    breaks: "a message is posted once",
    plant: {
      platform: (platform, _, { machine, clock }) => ({
        ...platform,
        perform: (effect, attempt) => {
          const isOutside =
            platform.name === "slack" && Math.abs(machine.clock("slack") - clock.now()) > 2 * 60_000;
          return platform.perform(effect, isOutside ? { uncertain: false, settlesInMs: 0 } : attempt);
        },
      }),
    },
  },
  {
    name: "a 503 counts as refused",
    promise: 4,
    features: ["late"],
    when: ({ lateShare }) => lateShare > 0,
    breaks: "a dispatch makes exactly one run",
    plant: believing(({ status }) => status === 503),
  },
  {
    name: "a request that is answered too late counts as refused",
    promise: 4,
    features: ["late"],
    when: ({ lateShare }) => lateShare > 0,
    breaks: "a dispatch makes exactly one run",
    plant: believing(({ status }) => status === undefined),
  },
  {
    name: "the client repeats a dispatch by itself",
    promise: 4,
    features: ["clientRetries"],
    when: ({ clientRetries }) => clientRetries,
    breaks: "a dispatch makes exactly one run",
    plant: {
      service: (service) => ({
        ...service,
        create: (request) =>
          service.create(request).catch((error: unknown) => {
            if (error instanceof Refused && error.certainty === "unknown") return service.create(request);
            throw error;
          }),
      }),
    },
  },
  {
    name: "the pages of a search are believed to be in order",
    promise: 4,
    weather: { unordered: true, pageSize: 1, cutRate: 0.5, crowd: 60, crowdSinceMs: 0, actsMs: 20_000 },
    breaks: "a dispatch makes exactly one run",
    plant: {
      service: (service) => {
        const ends = new Map<string, string>();
        return {
          ...service,
          list: async (query) => {
            if (!isSearch(query)) return service.list(query);
            const { cursor, ...rest } = query;
            const created_before = ends.get(cursor ?? "");
            const page = await service.list(
              created_before === undefined ? rest : { ...rest, created_before },
            );
            const last = page.runs.at(-1)?.created_at;
            if (last === undefined || !page.page_info.has_next_page) return page;
            ends.set(last, last);
            return { ...page, page_info: { has_next_page: true, next_cursor: last } };
          },
        };
      },
    },
  },
  {
    name: "twins are never ended",
    promise: 4,
    features: ["farLag", "cuts"],
    when: (weather) => isFar(weather) && weather.cutRate > 0,
    breaks: "a twin is ended within the hour",
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        if (decision.kind !== "keep") return decision;
        const effects = decision.thread.effects.filter(({ kind }) => !kind.startsWith("twin-"));
        return { kind: "keep", thread: { ...decision.thread, effects } };
      },
    },
  },
  {
    name: "the elder of two runs is ended",
    promise: 4,
    weather: { cutRate: 0.5, lags: { ...calmTroubles.lags, runs: 90_000 }, actsMs: 60_000 },
    breaks: "the elder twin stays",
    plant: searching(async (service, query) => {
      const page = await service.list(query);
      return { ...page, runs: withoutAge(page.runs) };
    }),
  },
  {
    name: "the place of a twin is lost",
    promise: 4,
    features: ["farLag", "cuts"],
    when: (weather) => isFar(weather) && weather.cutRate > 0,
    breaks: "one of the twins stays",
    plant: {
      platform: (platform) => ({
        ...platform,
        perform: async (effect, attempt) => {
          const outcome = await platform.perform(effect, attempt);
          if (!outcome.ok || outcome.kind !== "twin-posts" || effect.kind !== "twin-posts") return outcome;
          const [ended] = outcome.ended;
          return ended === undefined ? outcome : platform.perform({ ...effect, message: ended }, attempt);
        },
      }),
    },
  },
  {
    name: "the card of a twin run is lost",
    promise: 4,
    features: ["farLag", "cuts"],
    when: ({ lags, cutRate }) => lags.runs > 60_000 && cutRate > 0.2,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread, event, now);
        const isTwin = event.kind === "outcome" && event.outcome.ok && event.outcome.kind === "twin-runs";
        if (decision.kind !== "keep" || !isTwin || event.outcome.kept === null) return decision;
        const effects = decision.thread.effects.filter(({ kind }) => kind !== "card");
        const runs = decision.thread.runs.map((run) => ({ ...run, cards: {} }));
        return { kind: "keep", thread: { ...decision.thread, effects, runs } };
      },
    },
  },
];

const isFar = ({ lags }: Weather): boolean =>
  lags.runs > 60_000 || lags.slack > 20_000 || lags.github > 40_000;

/** The younger of two runs of a dispatch passes for the elder. */
const withoutAge = (runs: readonly Run[]): readonly Run[] =>
  runs.map((run) => {
    const twin = runs.find(
      (other) => other !== run && dispatchOf(other) !== null && dispatchOf(other) === dispatchOf(run),
    );
    return twin === undefined ? run : { ...run, created_at: twin.created_at };
  });
