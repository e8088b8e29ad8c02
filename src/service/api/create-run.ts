import { v7 as newUuid } from "uuid";
import type { Attachment } from "#agent-runs/schema.ts";
import type { Catalog } from "#service/catalog.ts";
import type { Attachments } from "#service/files/attachments.ts";
import { newRun, skillOf } from "#service/run/new-run.ts";
import type { Run, Utterance } from "#service/run/run-document.ts";
import { newSessionKey } from "#service/sessions/session-keys.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { type Refused, type Result, refused } from "#service/wire/problem.ts";
import type { RunRequest } from "#service/wire/wire-shapes.ts";

/** The stores that a new run needs. */
export interface CreateRunOptions {
  readonly runs: RunStore;
  readonly catalog: Catalog;
  readonly attachments: Attachments;
  /** Returns the next place in the order of creation and in the queue. */
  readonly nextPlace: () => number;
  readonly now: () => number;
}

/**
 * Checks the request and creates its run: the one place that validates environments, models, conversations and
 * attachments. Resolves when the run is durable; queuing it is the caller's task. Rejects with the store's error.
 */
export async function createRun(
  { runs, catalog, attachments, nextPlace, now }: CreateRunOptions,
  request: RunRequest,
  factoryUid: string | null,
): Promise<Result<Run>> {
  const { config } = request;
  if (!request.prompt?.trim() && skillOf(request) === null) {
    return refused("invalid_request", "prompt: it is required unless a skill is given");
  }
  const undeclared =
    notAmong("environment_id", config?.environment_id, catalog.environments) ??
    notAmong("model_id", config?.model_id, catalog.models);
  if (undeclared !== null) return undeclared;
  const earlier = await earlierConversation(runs, request.conversation_id);
  if (earlier === null) return refused("invalid_request", "conversation_id: there is no such conversation");
  // Version 7 begins with the time, so runs that are created together stand together in the database.
  const id = newUuid({ msecs: now() });
  const kept = await attachments.keep(id, [...(request.attachments ?? []), ...imagesOf(request)]);
  if (!kept.ok) return kept;
  const model = config?.model_id || catalog.defaultModelId;
  const document = newRun(model ? { ...request, config: { ...config, model_id: model } } : request, {
    id,
    order: nextPlace(),
    now: now(),
    sessionKey: newSessionKey(),
    earlier,
    factoryUid,
    attachments: kept.value,
  });
  try {
    await runs.add(document);
  } catch (error) {
    await attachments.remove(id);
    throw error;
  }
  return { ok: true, value: document.run };
}

/** Refuses an id that is not declared, if any are. */
function notAmong(
  field: string,
  id: string | null | undefined,
  declared: readonly { readonly id: string }[],
): Refused | null {
  if (!id || declared.length === 0 || declared.some((each) => each.id === id)) return null;
  const ids = declared.map((each) => each.id).join(", ");
  return refused("invalid_request", `config.${field}: it must be one of ${ids}`);
}

/** The messages of the conversation that a new run continues; null if there is no such conversation. */
async function earlierConversation(
  runs: RunStore,
  conversationId: string | undefined,
): Promise<readonly Utterance[] | null> {
  if (conversationId === undefined) return [];
  const latest = runs.latestOf(conversationId);
  return latest === null ? null : ((await runs.read(latest))?.said ?? null);
}

const imagesOf = ({ images = [] }: RunRequest): Attachment[] =>
  images.map(({ mime_type, data }, place) => ({
    file_name: `image-${place + 1}.${mime_type.slice("image/".length)}`,
    mime_type,
    data,
  }));
