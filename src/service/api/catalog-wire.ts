/** What the operator has declared, in the words of the wire. */
import type { Environment, Factory, ModelsResponse } from "#agent-runs/schema.ts";
import type { Catalog, EnvironmentSpec, FactorySpec } from "#service/catalog.ts";
import type { Run } from "#service/run/run-document.ts";

const rfc3339 = (ms: number): string => new Date(ms).toISOString();

/** `newest` is the run that was created last in it. Variables and command are the operator's own affair. */
export function environmentOf(spec: EnvironmentSpec, newest: Run | null): Environment {
  const repository = repositoryOf(spec);
  return {
    uid: spec.id,
    config: {
      name: spec.id,
      ...(spec.description === null ? {} : { description: spec.description }),
      github_repos: repository === null ? [] : [repository],
      setup_commands: [...spec.setup],
    },
    ...(newest === null ? {} : taskOf(newest)),
  };
}

function taskOf(run: Run): Partial<Environment> {
  const { id, title, state, createdAt, updatedAt, startedAt } = run;
  const started = startedAt === null ? {} : { started_at: rfc3339(startedAt) };
  return {
    last_task_created: {
      id,
      title,
      state,
      created_at: rfc3339(createdAt),
      updated_at: rfc3339(updatedAt),
      ...started,
    },
    ...(startedAt === null ? {} : { last_task_run_timestamp: rfc3339(startedAt) }),
    setup_failed: run.statusMessage?.error_code === "environment_setup_failed",
  };
}

/** Owner and name, the last two parts of the repository's address; what else is in it may be secret. */
export function repositoryOf({ repository }: EnvironmentSpec): { owner: string; repo: string } | null {
  const found = /([\w.-]+)[/:]([\w.-]+?)(?:\.git)?\/*$/.exec(repository ?? "");
  const [, owner, repo] = found ?? [];
  return owner === undefined || repo === undefined ? null : { owner, repo };
}

export const modelsOf = ({ defaultModelId, models }: Catalog): ModelsResponse => ({
  ...(defaultModelId === null ? {} : { default_model_id: defaultModelId }),
  models: models.map(({ id, name, provider }) => ({ id, display_name: name, provider })),
});

export function factoryOf(spec: FactorySpec, { environments }: Catalog): Factory {
  const { uid, name, aliases, description, environmentId, modelId } = spec;
  const environment = environments.find(({ id }) => id === environmentId);
  const repository = environment === undefined ? null : repositoryOf(environment);
  const [alias] = aliases;
  return {
    uid,
    name,
    ...(alias === undefined ? {} : { alias }),
    aliases: [...aliases],
    ...(description === null ? {} : { description }),
    ...(environmentId === null ? {} : { default_environment: environmentId }),
    ...(modelId === null ? {} : { default_model: modelId }),
    code_forge: environment?.repository?.includes("github.com") ? "GITHUB" : "NONE",
    repositories: repository === null ? [] : [repository],
  };
}
