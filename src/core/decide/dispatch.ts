/** Requests a run, or retries one: its record, its card and its create effect. */
import { shorten } from "#base/shorten.ts";
import type { RunFlags } from "#core/command.ts";
import type { PersonEvent } from "#core/event.ts";
import type { ContextMessage } from "#core/outcome.ts";
import type { Subject } from "#core/person.ts";
import { type DispatchId, dispatchFor } from "#core/place.ts";
import { type DispatchDefaults, defaultsFor } from "#core/policy.ts";
import { promptOf, visible, withMessages } from "#core/prompt.ts";
import { type CreateRequest, dispatchKey, type RunConfig, scopeKey } from "#core/run.ts";
import { hasFollowUp, isAtWork, newRun, type RunRecord } from "#core/thread.ts";
import { longestQuote, skillRequest, untitled } from "#core/words/card.ts";
import * as notes from "#core/words/notes.ts";
import { unknownMcpServer } from "#core/words/problems.ts";
import { add, answerViaOf, type Draft, postCard, runOf, setLabels, tell, updateRun } from "./draft.ts";

/** A request for a run. */
export interface Asked {
  /** The request to the agent. */
  readonly words: string;
  /** The request for people, if it differs. */
  readonly asked?: string;
  readonly flags: RunFlags;
  readonly label: string | null;
  readonly subject: Subject | null;
  /** Whether earlier messages of the place belong to the prompt. */
  readonly withContext: boolean;
}

/** Requests a run. One event makes at most one run, since its id is the dispatch's. */
export function dispatch(draft: Draft, event: PersonEvent, wanted: Asked): void {
  const id = dispatchFor(event.id);
  if (runOf(draft, id) !== undefined) return;
  const { flags, subject } = wanted;
  const defaults = defaultsFor(draft.rules, event.scope, wanted.label);
  const servers = draft.rules.mcpServers;
  const mcp = flags.mcp ?? defaults.mcp ?? [];
  const unknown = mcp.find((name) => !Object.hasOwn(servers, name));
  if (unknown !== undefined) {
    return tell(draft, event, notes.problemView(unknownMcpServer(unknown, Object.keys(servers))));
  }
  const config = configOf(draft, flags, defaults, mcp);
  const skill = flags.skill ?? defaults.skill;
  const factory = flags.factory ?? defaults.factory;
  const asked = wanted.asked ?? (wanted.words === "" ? skillRequest(skill) : wanted.words);
  const title = flags.title ?? subject?.title ?? asked;
  const record: RunRecord = {
    ...newRun,
    dispatch: id,
    // A factory chooses the config name of its runs itself.
    name: factory === undefined ? config.name : null,
    by: event.by,
    asked: shorten(asked, longestQuote),
    ...(subject?.locked ? { locked: true } : {}),
    request: {
      prompt: promptOf(wanted.words, subject),
      title: shorten(visible(title), 120) || untitled,
      config,
      ...(skill === undefined ? {} : { skill }),
      metadata: { [dispatchKey]: event.id, [scopeKey]: event.scope },
    },
    ...(factory === undefined ? {} : { factory }),
    ...answerViaOf(event),
    since: draft.now,
    askedAt: event.place === null ? null : event.at,
    cards: event.place === null ? {} : { [event.place]: null },
  };
  begin(draft, record, wanted.withContext ? { until: event.at, ...messageOf(event) } : null);
}

const messageOf = (event: PersonEvent): { except?: string } =>
  "message" in event && event.message !== undefined ? { except: event.message } : {};

/** Adds record, card and create effect. A run needs a place, so a card that begins one or may fail is first. */
function begin(draft: Draft, record: RunRecord, context: { until: string; except?: string } | null): void {
  const { dispatch, locked } = record;
  draft.thread.runs = [...draft.thread.runs.map(withoutOldRequest), record];
  const place = Object.keys(record.cards)[0];
  const card = postCard(draft, record, place ?? draft.thread.scope);
  let after = place === undefined || locked ? { after: card } : {};
  if (place !== undefined) {
    if (context !== null) {
      after = { after: add(draft, dispatch, { kind: "read", at: place, dispatch, ...context, ...after }) };
    }
    setLabels(draft);
  }
  add(draft, dispatch, { kind: "create", dispatch, ...after });
}

/** Number of runs that can be retried; the prompts of older ones would be saved with each change. */
const keptRequests = 5;
const withoutOldRequest = (record: RunRecord, index: number, all: readonly RunRecord[]): RunRecord =>
  record.open || all.length - index < keptRequests ? record : { ...record, request: null };

/** Adds earlier messages of the place to the dispatch's prompt; `omitted` others are missing. */
export function addContext(
  draft: Draft,
  dispatchId: DispatchId,
  messages: readonly ContextMessage[],
  omitted: number,
): void {
  const request = runOf(draft, dispatchId)?.request;
  if (!request) return;
  const prompt = withMessages(request.prompt, messages, omitted);
  updateRun(draft, dispatchId, { request: { ...request, prompt } });
}

/** Requests the run again. Its id derives from the old one, so a button pressed twice makes one run. */
export function retryRun(draft: Draft, event: PersonEvent, record: RunRecord): void {
  if (record.request === null) return tell(draft, event, notes.notRetryableView);
  const [first, count] = record.dispatch.split("#retry-");
  const again = `${first}#retry-${Number(count ?? 0) + 1}`;
  if (runOf(draft, again) !== undefined) return tell(draft, event, notes.alreadyRetriedView);
  if (isAtWork(record) || hasFollowUp(draft.thread, record.dispatch)) {
    return tell(draft, event, notes.stillActiveView);
  }
  const { cancelledBy: _, answerVia: __, lastFollowUp: ___, ...rest } = record;
  const request: CreateRequest = {
    ...record.request,
    metadata: { ...record.request.metadata, [dispatchKey]: again },
  };
  // Another place has its own thread, so the run stays in a place of this one.
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
  const isSeen = event.place === null ? places.length === 0 : places.includes(event.place);
  if (!isSeen) tell(draft, event, notes.retriedElsewhereView);
}

function configOf(
  draft: Draft,
  flags: RunFlags,
  defaults: DispatchDefaults,
  mcp: readonly string[],
): RunConfig {
  const model = flags.model ?? defaults.model;
  const environment = flags.env ?? defaults.environment;
  const { mcpServers } = draft.rules;
  const servers = mcp.flatMap((name) => (mcpServers[name] ? [[name, mcpServers[name]] as const] : []));
  return {
    name: flags.name ?? draft.rules.runName,
    ...(model === undefined ? {} : { model_id: model }),
    ...(environment === undefined ? {} : { environment_id: environment }),
    ...(defaults.basePrompt === undefined ? {} : { base_prompt: defaults.basePrompt }),
    ...(servers.length === 0 ? {} : { mcp_servers: Object.fromEntries(servers) }),
  };
}
