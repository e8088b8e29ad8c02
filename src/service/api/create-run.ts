import type { Attachment } from "#agent-runs/schema.ts";
import type { Catalog } from "#service/catalog.ts";
import type { Attachments } from "#service/files/attachments.ts";
import { newRun } from "#service/run/new-run.ts";
import type { Run, Utterance } from "#service/run/run-document.ts";
import { newRunId } from "#service/run/run-id.ts";
import { newSessionKey } from "#service/sessions/session-keys.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { type Result, refused } from "#service/wire/problem.ts";
import type { RunRequest } from "#service/wire/wire-shapes.ts";

export interface CreateRunOptions {
  readonly runs: RunStore;
  readonly catalog: Catalog;
  readonly attachments: Attachments;
  /** The next place in the order of creation and in the queue. */
  readonly nextPlace: () => number;
  readonly now: () => number;
}

/**
 * Makes the run that is asked for, or says which field keeps it from that. Resolves when the run is durable;
 * whoever executes runs is told by the caller.
 */
export type CreateRun = (request: RunRequest, factoryUid: string | null) => Promise<Result<Run>>;

export function createRunCreator(options: CreateRunOptions): CreateRun {
  const { runs, catalog, attachments, nextPlace, now } = options;
  return async (request, factoryUid) => {
    const resolved = resolve(request, catalog);
    if (!resolved.ok) return resolved;
    const earlier = await earlierConversation(runs, request.conversation_id);
    if (earlier === null) {
      return refused("invalid_request", "conversation_id: there is no such conversation");
    }
    const id = newRunId(now());
    const kept = await attachments.keep(id, [...(request.attachments ?? []), ...imagesOf(request)]);
    if (!kept.ok) return kept;
    const document = newRun(resolved.value, {
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
  };
}

/** What the schema can't say of the request, and the defaults of what it leaves out. */
function resolve(request: RunRequest, catalog: Catalog): Result<RunRequest> {
  const { config } = request;
  // An empty one is none: it does not win over the configuration's.
  const skill = request.skill || config?.skill_spec || undefined;
  if (!request.prompt?.trim() && skill === undefined) {
    return refused("invalid_request", "prompt: it is required unless a skill is given");
  }
  const fault =
    unknown("environment_id", config?.environment_id, catalog.environments) ??
    unknown("model_id", config?.model_id, catalog.models);
  if (fault !== null) return refused("invalid_request", fault);
  const { skill: _, ...rest } = request;
  const model = config?.model_id || catalog.defaultModelId;
  return {
    ok: true,
    value: {
      ...rest,
      ...(skill === undefined ? {} : { skill }),
      ...(model ? { config: { ...config, model_id: model } } : {}),
    },
  };
}

/** Where any are declared, only those can be named. */
function unknown(
  field: string,
  id: string | null | undefined,
  declared: readonly { readonly id: string }[],
): string | null {
  if (!id || declared.length === 0 || declared.some((each) => each.id === id)) return null;
  return `config.${field}: it is none of ${declared.map((each) => each.id).join(", ")}`;
}

/** What was said so far in the conversation that a new run continues; null if there is no such one. */
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
