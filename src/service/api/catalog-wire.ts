/** The operator's declarations as the API shows them. */
import type { Environment, Factory, ModelsResponse } from "#agent-runs/schema.ts";
import {
  type Catalog,
  type EnvironmentSpec,
  environmentIn,
  type FactorySpec,
  repositoryName,
} from "#service/catalog.ts";
import type { Run } from "#service/run/run-document.ts";
import { rfc3339 } from "#service/store/run-wire.ts";

/**
 * `changedAt`: when the declaration last changed. `newest`: the environment's last created run. Variables and
 * commands are not shown: they may be secret.
 */
export function environmentOf(spec: EnvironmentSpec, changedAt: number, newest: Run | null) {
  const repository = repositoryName(spec.repository);
  return {
    uid: spec.id,
    config: {
      name: spec.id,
      ...(spec.description === null ? {} : { description: spec.description }),
      github_repos: repository === null ? [] : [repository],
      setup_commands: [...spec.setup],
    },
    last_updated: rfc3339(changedAt),
    setup_failed: newest?.statusMessage?.error_code === "environment_setup_failed",
    ...(newest === null ? {} : lastTaskOf(newest)),
  } satisfies Environment;
}

function lastTaskOf({ id, title, state, createdAt, updatedAt, startedAt }: Run) {
  const task = { id, title, state, created_at: rfc3339(createdAt), updated_at: rfc3339(updatedAt) };
  if (startedAt === null) return { last_task_created: task };
  const started_at = rfc3339(startedAt);
  const last_task_created = { ...task, started_at };
  return { last_task_created, last_task_run_timestamp: started_at };
}

/** The declared models with the default one. */
export const modelsOf = ({ defaultModelId, models }: Catalog): ModelsResponse => ({
  ...(defaultModelId === null ? {} : { default_model_id: defaultModelId }),
  models: models.map(({ id, name, provider, vision }) => ({
    id,
    display_name: name,
    provider,
    vision_supported: vision,
  })),
});

/** A factory with the repository of its environment. */
export function factoryOf(spec: FactorySpec, catalog: Catalog): Factory {
  const { uid, name, aliases, description, environmentId, modelId } = spec;
  const address = environmentIn(catalog, environmentId)?.repository ?? null;
  const repository = repositoryName(address);
  const [alias] = aliases;
  return {
    uid,
    name,
    ...(alias === undefined ? {} : { alias }),
    aliases: [...aliases],
    ...(description === null ? {} : { description }),
    ...(environmentId === null ? {} : { default_environment: environmentId }),
    ...(modelId === null ? {} : { default_model: modelId }),
    code_forge: address?.includes("github.com") ? "GITHUB" : "NONE",
    repositories: repository === null ? [] : [repository],
  };
}
