/** Asking for a run: the record, the card, the request, and the same again for a retry. */
import type { RunFlags } from "#core/command.ts";
import { shorten } from "#core/command.ts";
import type { PersonEvent } from "#core/event.ts";
import type { ContextMessage } from "#core/outcome.ts";
import type { Subject } from "#core/person.ts";
import { type DispatchDefaults, defaultsFor } from "#core/policy.ts";
import { promptOf, visible, withReference } from "#core/prompt.ts";
import { type CreateRequest, dispatchKey, isEnded, type RunConfig, scopeKey } from "#core/run.ts";
import { hasFollowUp, newRun, type RunRecord } from "#core/thread.ts";
import { problemView } from "#core/words/views.ts";
import { add, type Draft, postCard, runOf, setLabels, tell, updateRun } from "./draft.ts";

export interface Asked {
  /** What the agent is asked. */
  readonly words: string;
  /** What people are shown as asked for, if it isn't the words. */
  readonly asked?: string;
  readonly flags: RunFlags;
  readonly label: string | null;
  readonly subject: Subject | null;
  /** Whether earlier messages of the place belong to the prompt. */
  readonly withContext: boolean;
}

/** One event makes at most one run: its id is the dispatch's. */
export function dispatch(draft: Draft, event: PersonEvent, wanted: Asked): void {
  if (runOf(draft, event.id) !== undefined) return;
  const { flags } = wanted;
  const defaults = defaultsFor(draft.rules, event.scope, wanted.label);
  const mcp = mcpServers(draft, flags.mcp ?? defaults.mcp ?? []);
  if (typeof mcp === "string") {
    tell(draft, event, problemView(mcp));
    return;
  }
  const config = configOf(draft, flags, defaults, mcp);
  const skill = flags.skill ?? defaults.skill;
  const factory = flags.factory ?? defaults.factory;
  const asked = wanted.asked ?? (wanted.words === "" ? `Skill ${skill}` : wanted.words);
  const title = flags.title ?? wanted.subject?.title ?? asked;
  const request: CreateRequest = {
    prompt: promptOf(wanted.words, { subject: wanted.subject, messages: [], omitted: 0 }),
    title: shorten(visible(title), 120) || "Agent run",
    config,
    ...(skill === undefined ? {} : { skill }),
    metadata: { [dispatchKey]: event.id, [scopeKey]: event.scope },
  };
  const record: RunRecord = {
    ...newRun,
    dispatch: event.id,
    // A factory decides for itself under which config name its runs go.
    name: factory === undefined ? config.name : null,
    by: event.by,
    words: wanted.words,
    asked,
    subject: wanted.subject,
    request,
    ...(factory === undefined ? {} : { factory }),
    ...answerViaOf(event),
    since: draft.now,
    askedAt: event.place === null ? null : event.at,
    cards: event.place === null ? {} : { [event.place]: null },
  };
  const until = wanted.withContext ? { until: event.at, ...messageOf(event) } : null;
  begin(draft, record, until);
}

const answerViaOf = (event: PersonEvent): { answerVia?: string } =>
  "answerVia" in event && event.answerVia !== undefined ? { answerVia: event.answerVia } : {};

const messageOf = (event: PersonEvent): { except?: string } =>
  "message" in event && event.message !== undefined ? { except: event.message } : {};

/**
 * Adds the record and what makes it a run. Without a place the card comes first, and gives it one; in a locked
 * place too, since a run that nobody can be told of is none to begin.
 */
function begin(draft: Draft, record: RunRecord, context: { until: string; except?: string } | null): void {
  if (record.request === null) return;
  draft.thread.runs = [...draft.thread.runs.map(slim), record];
  const place = Object.keys(record.cards)[0];
  let after: string | undefined;
  if (place === undefined) after = postCard(draft, record, draft.thread.scope);
  else {
    const card = postCard(draft, record, place);
    if (record.subject?.locked) after = card;
    if (context !== null) {
      after = add(draft, record.dispatch, {
        kind: "read",
        at: place,
        dispatch: record.dispatch,
        ...context,
        ...(after === undefined ? {} : { after }),
      });
    }
    setLabels(draft);
  }
  const prompt = withReference(record.request.prompt, record.dispatch);
  add(draft, record.dispatch, {
    kind: "create",
    dispatch: record.dispatch,
    request: { ...record.request, prompt },
    ...(record.factory === undefined ? {} : { factory: record.factory }),
    ...(after === undefined ? {} : { after }),
  });
}

/** What an ended run was asked with has been sent; a thread of many runs would carry it along for ever. */
function slim(record: RunRecord, index: number, all: readonly RunRecord[]): RunRecord {
  if (record.open || record.subject === null) return dropOld(record, all.length - index);
  return dropOld({ ...record, subject: null }, all.length - index);
}

/** Only the latest few can be started again. */
const keptRequests = 5;
const dropOld = (record: RunRecord, fromEnd: number): RunRecord =>
  record.open || fromEnd < keptRequests ? record : { ...record, request: null, words: "" };

/** Puts what was read of the place into the request, before it is sent. */
export function addContext(
  draft: Draft,
  dispatchId: string,
  messages: readonly ContextMessage[],
  omitted: number,
): void {
  const record = runOf(draft, dispatchId);
  if (!record?.request) return;
  const prompt = promptOf(record.words, { subject: record.subject, messages, omitted });
  updateRun(draft, dispatchId, { request: { ...record.request, prompt } });
  draft.thread.effects = draft.thread.effects.map((effect) =>
    effect.kind === "create" && effect.dispatch === dispatchId
      ? { ...effect, request: { ...effect.request, prompt: withReference(prompt, dispatchId) } }
      : effect,
  );
}

export type Retried = "started" | "unfinished" | "attached" | "already";

/**
 * Asks for the run again. The new dispatch is named after the old one, so that a button pressed twice makes
 * one run.
 */
export function retry(draft: Draft, record: RunRecord, event: PersonEvent): Retried {
  if (record.request === null) return "attached";
  const [first, count] = record.dispatch.split("#retry-");
  const again = `${first}#retry-${Number(count ?? 0) + 1}`;
  if (runOf(draft, again) !== undefined) return "already";
  const unfinished =
    record.run === null ||
    !isEnded(record.run.state) ||
    record.reopened ||
    hasFollowUp(draft.thread, record.dispatch);
  if (record.failed === null && unfinished) return "unfinished";
  const { cancelledBy: _, answerVia: __, ...rest } = record;
  const request = { ...record.request, metadata: { ...record.request.metadata, [dispatchKey]: again } };
  // Asked for from elsewhere, it still belongs where the thread is: the other place has a thread of its own.
  const { places } = draft.thread;
  const place = event.place !== null && places.includes(event.place) ? event.place : places[0];
  begin(
    draft,
    {
      ...rest,
      ...newRun,
      ...answerViaOf(event),
      dispatch: again,
      by: event.by,
      request,
      since: draft.now,
      cards: place === undefined ? {} : { [place]: null },
    },
    null,
  );
  return "started";
}

function configOf(
  draft: Draft,
  flags: RunFlags,
  defaults: DispatchDefaults,
  mcp: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): RunConfig {
  const model = flags.model ?? defaults.model;
  const environment = flags.env ?? defaults.environment;
  return {
    name: flags.name ?? draft.rules.runName,
    ...(model === undefined ? {} : { model_id: model }),
    ...(environment === undefined ? {} : { environment_id: environment }),
    ...(defaults.basePrompt === undefined ? {} : { base_prompt: defaults.basePrompt }),
    ...(Object.keys(mcp).length === 0 ? {} : { mcp_servers: mcp }),
  };
}

/** The named servers, or a sentence about the first name that the configuration doesn't know. */
function mcpServers(
  draft: Draft,
  names: readonly string[],
): Readonly<Record<string, Readonly<Record<string, unknown>>>> | string {
  const known = draft.rules.mcpServers;
  const missing = names.find((name) => !Object.hasOwn(known, name));
  if (missing !== undefined) {
    const list = Object.keys(known).map((name) => `\`${name}\``);
    const hint = list.length === 0 ? "None is set up in the config file." : `Set up are ${list.join(", ")}.`;
    return `I don't know the MCP server \`${shorten(missing, 40)}\`. ${hint}`;
  }
  return Object.fromEntries(names.flatMap((name) => (known[name] ? [[name, known[name]]] : [])));
}
