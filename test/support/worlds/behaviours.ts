/** The behaviour of each system's proxy in a bad world. */
import { z } from "zod";
import type { Behaviour } from "./bad-proxy.ts";
import type { BadApi, BadPlatform } from "./bad-world.ts";

const run = z.looseObject({
  run_id: z.string(),
  state: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  started_at: z.string().nullish(),
});
type ShownRun = z.infer<typeof run>;
const page = z.looseObject({ runs: z.array(run) });
const message = z.looseObject({ timestamp: z.string().nullish() });
const step = z.looseObject({ id: z.string(), messages: z.array(message) });
const conversation = z.looseObject({ steps: z.array(step) });
const slackMessages = z.looseObject({ messages: z.array(z.looseObject({ ts: z.string() })) });
const comments = z.array(z.looseObject({ created_at: z.string() }));

const notFound = {
  type: "about:blank/resource_not_found",
  title: "Not found",
  status: 404,
  retryable: false,
};
const isRuns = (path: string): boolean => /\/agent\/runs$/.test(path);
const isRun = (path: string): boolean => /\/agent\/runs\/[^/]+$/.test(path);

/** Returns the behaviour of an Agent Runs API; `random` returns 0 to 1. */
export function badApi(bad: BadApi, random: () => number): Behaviour {
  const startedAt = Date.now();
  /** Versions of each run that were seen, with their real times. */
  const versions = new Map<string, { readonly at: number; readonly run: ShownRun }[]>();
  const shiftAt = (ms: number): number => bad.clockMs?.(ms - startedAt) ?? 0;
  /** When each text of a turn under way was first seen, by run and step: such texts have no time. */
  const live = new Map<string, number>();
  /** The time as the service's clock stamped it: a moment has one stamp wherever it is shown. */
  const stamped = (time: string): string => timeOf(Date.parse(time) + shiftAt(Date.parse(time)));

  /** Returns the run as it was `lagMs` ago, by the service's clock of that time; null: it was not there yet. */
  function asOf(shown: ShownRun, lagMs: number): ShownRun | null {
    const known = versions.get(shown.run_id) ?? [];
    versions.set(shown.run_id, known);
    const isKnown = known.some(
      ({ run: { state, updated_at } }) => state === shown.state && updated_at === shown.updated_at,
    );
    const at = Date.parse(shown.updated_at);
    if (!isKnown) known.push({ at, run: shown });
    const version = known.findLast((one) => Date.now() - one.at >= lagMs);
    if (version === undefined) return null;
    const { created_at, updated_at, started_at } = version.run;
    return {
      ...version.run,
      created_at: stamped(created_at),
      updated_at: stamped(updated_at),
      ...(started_at ? { started_at: stamped(started_at) } : {}),
    };
  }

  return {
    faultOf: ({ method, url }) => {
      if (method !== "POST") return undefined;
      if (/\/agent\/runs?$/.test(url.pathname)) return bad.creates;
      return url.pathname.endsWith("/followups") ? bad.followUps : undefined;
    },
    ask(url) {
      for (const name of [...url.searchParams.keys()]) {
        if (bad.ignoresMetadata && name.startsWith("metadata[")) url.searchParams.delete(name);
        const value = url.searchParams.get(name) ?? "";
        // The service compares with its own times, which are shifted here.
        if (/_(after|before)$/.test(name)) {
          const ms = Date.parse(value);
          url.searchParams.set(name, timeOf(ms - Math.max(shiftAt(Date.now()), shiftAt(startedAt))));
        }
      }
    },
    show({ method, url: { pathname } }, json) {
      if (method !== "GET") return { json };
      if (isRuns(pathname)) {
        const read = page.parse(json);
        const runs = read.runs.flatMap((one) => asOf(one, bad.listLagMs ?? 0) ?? []);
        if (bad.unsorted) runs.sort(() => random() - 0.5);
        return { json: { ...read, runs } };
      }
      if (isRun(pathname)) {
        const shown = asOf(run.parse(json), bad.fetchLagMs ?? 0);
        return shown === null ? { json: notFound, status: 404 } : { json: shown };
      }
      if (pathname.endsWith("/conversation")) {
        const read = conversation.parse(json);
        const lagMs = bad.conversationLagMs ?? 0;
        const steps = read.steps.flatMap((one) => {
          const messages = one.messages.flatMap((each) => {
            const { timestamp } = each;
            const key = `${pathname} ${one.id}`;
            if (!timestamp && !live.has(key)) live.set(key, Date.now());
            const saidAt = timestamp ? Date.parse(timestamp) : (live.get(key) ?? 0);
            if (Date.now() - saidAt < lagMs) return [];
            return [timestamp ? { ...each, timestamp: stamped(timestamp) } : each];
          });
          return messages.length === 0 ? [] : [{ ...one, messages }];
        });
        return steps.length === 0 ? { json: notFound, status: 404 } : { json: { ...read, steps } };
      }
      return { json };
    },
    now: () => Date.now() + shiftAt(Date.now()),
  };
}

const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Returns the behaviour of Slack's Web API. */
export const badSlack = ({ posts, edits, listLagMs = 0 }: BadPlatform): Behaviour => ({
  faultOf: ({ url: { pathname } }) => {
    if (pathname.endsWith("/chat.postMessage")) return posts;
    return pathname.endsWith("/chat.update") ? edits : undefined;
  },
  show({ url: { pathname } }, json) {
    if (!/conversations\.(history|replies)$/.test(pathname)) return { json };
    const { data } = slackMessages.safeParse(json);
    if (data === undefined) return { json };
    const isOld = ({ ts }: { ts: string }): boolean => Date.now() - Number(ts) * 1_000 >= listLagMs;
    return { json: { ...data, messages: data.messages.filter(isOld) } };
  },
});

/** Returns the behaviour of GitHub's REST API. */
export const badGitHub = ({ posts, edits, listLagMs = 0 }: BadPlatform): Behaviour => ({
  faultOf: ({ method, url: { pathname } }) => {
    if (method === "POST" && /\/issues\/\d+\/comments$/.test(pathname)) return posts;
    return method === "PATCH" ? edits : undefined;
  },
  show({ method, url: { pathname } }, json) {
    if (method !== "GET" || !pathname.endsWith("/comments")) return { json };
    const { data } = comments.safeParse(json);
    if (data === undefined) return { json };
    return { json: data.filter(({ created_at }) => Date.now() - Date.parse(created_at) >= listLagMs) };
  },
});
