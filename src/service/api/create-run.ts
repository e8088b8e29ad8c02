import { v7 as newUuid } from "uuid";
import type { Attachment } from "#agent-runs/schema.ts";
import type { Catalog } from "#service/catalog.ts";
import type { Attachments } from "#service/files/attachments.ts";
import type { RepositorySkills } from "#service/files/repository-skills.ts";
import { newRun, skillOf } from "#service/run/new-run.ts";
import type { Run, Utterance } from "#service/run/run-document.ts";
import { newSessionKey } from "#service/sessions/session-keys.ts";
import type { RunStore } from "#service/store/run-store.ts";
import { type Refused, type Result, refused } from "#service/wire/problem.ts";
import type { RunRequest } from "#service/wire/wire-shapes.ts";
import { notAmong, unknownSkill } from "./declared.ts";

/** The stores that a new run needs. */
export interface CreateRunOptions {
  readonly runs: RunStore;
  readonly catalog: Catalog;
  readonly skills: RepositorySkills;
  readonly attachments: Attachments;
  /** Returns the next place in the order of creation and in the queue. */
  readonly nextPlace: () => number;
  readonly now: () => number;
}

/**
 * Checks the request and creates its run: the one place that validates environments, models, skills, parents,
 * conversations and attachments. Resolves when the run is durable; queuing it is the caller's task. Rejects with the
 * store's error.
 */
export async function createRun(
  { runs, catalog, skills, attachments, nextPlace, now }: CreateRunOptions,
  request: RunRequest,
  factoryUid: string | null,
): Promise<Result<Run>> {
  const { config, parent_run_id: parent } = request;
  const skill = skillOf(request);
  if (!request.prompt?.trim() && skill === null) {
    return refused("invalid_request", "prompt: it is required unless a skill is given");
  }
  const undeclared =
    notAmong("config.environment_id", config?.environment_id, catalog.environments) ??
    notAmong("config.model_id", config?.model_id, catalog.models) ??
    // The operator has declared a factory's skill with the factory.
    (factoryUid === null ? await unknownSkill(skill, catalog, skills) : null);
  if (undeclared !== null) return undeclared;
  if (request.agent_identity_uid) {
    return refused("invalid_request", "agent_identity_uid: there are no agent identities here");
  }
  if (parent && runs.get(parent) === null) return noSuchRun("parent_run_id", parent);
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

/** Refuses a field that must name a run, as the public document does: with a 400. */
export const noSuchRun = (field: string, id: string): Refused =>
  refused("invalid_request", `${field}: there is no run ${id.slice(0, 100)}`);

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
