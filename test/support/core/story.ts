/** Drives the core through a thread's story: tests give it events and outcomes and inspect the effects. */
import { createDecide } from "#core/decide/decide.ts";
import type { Effect } from "#core/effect.ts";
import type { ButtonEvent, CommandEvent, Event, LabelEvent, ReplyEvent } from "#core/event.ts";
import type { Done, Fault } from "#core/outcome.ts";
import type { Person } from "#core/person.ts";
import { placeAt } from "#core/place.ts";
import type { Rules } from "#core/policy.ts";
import { withReference } from "#core/prompt.ts";
import type { CreateRequest, Run } from "#core/run.ts";
import { isSettled, type Thread } from "#core/thread.ts";

export const rules: Rules = {
  runName: "agent-runs-bot",
  defaults: {},
  scopes: {},
  labels: { agent: {} },
  mcpServers: { docs: { url: "https://docs.example.com/mcp" } },
  replies: "all",
  allow: {},
  retryForMs: 24 * 3_600_000,
  platforms: {
    slack: { hasStateLabels: false, help: [] },
    github: { hasStateLabels: true, help: ["Begin a line with `/agent`."] },
  },
};

export const alice: Person = { platform: "slack", id: "UALICE", name: "alice", bot: false };
export const octoAlice: Person = {
  platform: "github",
  id: "alice",
  name: "alice",
  bot: false,
  permission: "unknown",
};
const start = Date.parse("2026-01-01T00:00:00Z");
export const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

export const channel = "slack:T1:C1";
export const place = "slack:T1:C1:100.1";
export const issue = "github:octo/app#7";
export const subject = {
  title: "The test is flaky",
  body: "It fails on Mondays.",
  url: "https://github.com/octo/app/issues/7",
  author: "bob",
};

let count = 0;
const fresh = (): string => `e${++count}`;

export const slash = (text: string, more: Partial<CommandEvent> = {}): CommandEvent => ({
  kind: "command",
  id: `slack:interaction:${fresh()}`,
  at: at(0),
  by: alice,
  scope: channel,
  place: null,
  text,
  answerVia: "https://hooks.example.com/1",
  ...more,
});
export const reply = (text: string, more: Partial<ReplyEvent> = {}): ReplyEvent => ({
  kind: "reply",
  id: `slack:message:${fresh()}`,
  at: at(0),
  by: alice,
  scope: channel,
  place,
  text,
  message: `m${count}`,
  mention: false,
  first: false,
  underOurs: false,
  ...more,
});
export const mention = (text: string, more: Partial<ReplyEvent> = {}): ReplyEvent =>
  reply(text, { mention: true, first: true, ...more });
export const press = (
  action: ButtonEvent["action"],
  dispatch: string,
  more: Partial<ButtonEvent> = {},
): ButtonEvent => ({
  kind: "button",
  id: `slack:interaction:${fresh()}`,
  at: at(0),
  by: alice,
  scope: channel,
  place,
  action,
  dispatch,
  ...more,
});
export const labelled = (label = "agent", more: Partial<LabelEvent> = {}): LabelEvent => ({
  kind: "label",
  id: `github:delivery:${fresh()}`,
  at: at(0),
  by: octoAlice,
  scope: "github:octo/app",
  place: issue,
  label,
  subject,
  ...more,
});
export const comment = (text: string, more: Partial<ReplyEvent> = {}): ReplyEvent =>
  reply(text, {
    id: `github:comment:${fresh()}`,
    by: octoAlice,
    scope: "github:octo/app",
    place: issue,
    subject,
    ...more,
  });

export const runAt = (state: string, seconds: number, more: Partial<Run> = {}): Run => ({
  run_id: "run-1",
  title: "fix it",
  prompt: "fix it",
  state,
  created_at: at(1),
  updated_at: at(seconds),
  started_at: at(2),
  ...more,
});

type DoneOf<K extends Done["kind"]> = Extract<Done, { kind: K }>;
type EffectOf<K extends Effect["kind"]> = Extract<Effect, { kind: K }>;

/** `saved` is the thread at the beginning of the story. */
export function story(change: Partial<Rules> = {}, saved: Thread | null = null) {
  const decide = createDecide({ ...rules, ...change });
  let thread: Thread | null = saved;
  let nowMs = start;

  const give = (event: Event): string => {
    const decision = decide(thread, event, nowMs);
    if (decision.kind === "keep") thread = decision.thread;
    return decision.kind;
  };
  const now = (): Thread => {
    if (thread === null) throw new Error("the story has no thread yet");
    return thread;
  };
  const effects = <K extends Effect["kind"]>(kind: K): readonly EffectOf<K>[] =>
    now().effects.filter((effect): effect is EffectOf<K> => effect.kind === kind);
  const one = <K extends Effect["kind"]>(kind: K): EffectOf<K> => {
    const [only, ...more] = effects(kind);
    if (only === undefined || more.length > 0) {
      throw new Error(`expected one ${kind}, there are: ${now().effects.map((effect) => effect.kind)}`);
    }
    return only;
  };
  const outcome = (effect: string, result: Done | { ok: false; fault: Fault }): string =>
    give({ kind: "outcome", thread: now().id, effect, outcome: result, random: 0.5 });

  return {
    give,
    effects,
    one,
    thread: now,
    /** The request of the only create effect, as sent. */
    request: (): CreateRequest => {
      const { dispatch } = one("create");
      const request = now().runs.find((record) => record.dispatch === dispatch)?.request;
      if (!request) throw new Error("the run has no request");
      return { ...request, prompt: withReference(request.prompt, dispatch) };
    },
    wait: (seconds: number): void => {
      nowMs += seconds * 1_000;
    },
    settled: () => isSettled(now()),
    /** Makes the first effect of the kind succeed. */
    done: <K extends Done["kind"] & Effect["kind"]>(kind: K, with_: Omit<DoneOf<K>, "ok" | "kind">): void => {
      const [effect] = effects(kind);
      if (effect === undefined) throw new Error(`there is no ${kind} to perform`);
      outcome(effect.id, { ok: true, kind, ...with_ } as DoneOf<K>);
    },
    fails: (kind: Effect["kind"], fault: Partial<Fault> = {}): void => {
      const [effect] = effects(kind);
      if (effect === undefined) throw new Error(`there is no ${kind} to fail`);
      const full: Fault = { certainty: "refused", retryable: false, reason: "no", ...fault };
      outcome(effect.id, { ok: false, fault: full });
    },
    outcome,
    /** Makes all pending effects, and those that follow, succeed. */
    performAll: (): void => {
      for (let guard = 0; guard < 100; guard += 1) {
        const thread_ = now();
        const next = thread_.effects.find(
          (effect) =>
            thread_.effects.find((other) => other.to === effect.to) === effect &&
            !thread_.effects.some((other) => other.id === effect.after),
        );
        if (next === undefined) return;
        outcome(next.id, success(next, thread_.runs.length));
      }
      throw new Error("the story never comes to rest");
    },
    run: (state: string, seconds: number, more: Partial<Run> = {}): string =>
      give({ kind: "run", run: runAt(state, seconds, more) }),
    /** Views of the pending effects of the kind, as plain text. */
    said: (kind: "tell" | "reply" | "card"): string[] =>
      now().effects.flatMap((effect) => (effect.kind === kind ? [words(effect.view)] : [])),
    /** Replaces fields of the thread, as if another version had saved it. */
    load: (changes: Partial<Thread>): void => {
      thread = { ...now(), ...changes };
    },
    restart: (): void => {
      thread = JSON.parse(JSON.stringify(now())) as Thread;
    },
  };
}

function success(effect: Effect, runs: number): Done {
  switch (effect.kind) {
    case "create":
      return { ok: true, kind: "create", runId: `run-${runs}`, state: "QUEUED" };
    case "card": {
      const placed = effect.at.split(":").length > 3 || effect.at.includes("#");
      const message = effect.message ?? "card-1";
      return {
        ok: true,
        kind: "card",
        revision: effect.revision,
        message,
        place: placed ? placeAt(effect.at) : place,
      };
    }
    case "fetch":
      return { ok: true, kind: "fetch", run: null };
    case "answer":
      return { ok: true, kind: "answer", text: "All green now.", answered: 2 };
    case "list":
      return { ok: true, kind: "list", runs: [] };
    case "reply":
      return { ok: true, kind: "reply", message: "r" };
    case "label":
      return { ok: true, kind: "label", revision: effect.revision };
    case "read":
      return { ok: true, kind: "read", messages: [], omitted: 0 };
    case "permission":
      return { ok: true, kind: "permission", permission: "write" };
    case "twin-runs":
      return { ok: true, kind: "twin-runs", kept: null, ended: [] };
    case "twin-messages":
      return { ok: true, kind: "twin-messages", times: 1 };
    case "twin-posts":
      return { ok: true, kind: "twin-posts", ended: [] };
    case "hand-over":
      return { ok: true, kind: "hand-over", taken: false };
    case "follow-up":
    case "cancel":
    case "tell":
    case "react":
      return { ok: true, kind: effect.kind };
    default:
      return effect satisfies never;
  }
}

type View = EffectOf<"tell">["view"];
export const words = (view: View): string =>
  [view.headline, ...view.details]
    .map((line) =>
      line
        .map((span) => {
          if (typeof span === "string") return span;
          if ("strong" in span) return span.strong;
          if ("code" in span) return span.code;
          if ("person" in span) return `@${span.person.name}`;
          return `${span.label} (${span.link})`;
        })
        .join(""),
    )
    .concat(view.answer ?? [])
    .join("\n");
