/** Everything that an operator has declared for runs to use: the config file's `service` section. */

/** A repository to work in, its set-up and its agent. */
export interface EnvironmentSpec {
  /** The value of `config.environment_id`. */
  readonly id: string;
  readonly description: string | null;
  /** A URL or path that git can clone; null: each run works in an empty folder. */
  readonly repository: string | null;
  /** The branch that a run's worktree starts from; null: the repository's default branch. */
  readonly branch: string | null;
  /** Shell commands that run in order in each new worktree. */
  readonly setup: readonly string[];
  /** The agent's command, or the name of a preset; null: the service's own. */
  readonly command: string | null;
  /** Variables for the set-up and the agent. They may hold secrets. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A model that runs may name. */
export interface ModelSpec {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
  /** Whether it reads images. */
  readonly vision: boolean;
}

/** A skill declared on its own; the service finds those in the environments' repositories itself. */
export interface SkillSpec {
  /** `owner/repo:skill-name`. */
  readonly spec: string;
  readonly description: string | null;
  /** The path of its SKILL.md. */
  readonly file: string;
}

/** A dispatch target with the defaults of its runs. */
export interface FactorySpec {
  readonly uid: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string | null;
  readonly basePrompt: string | null;
  readonly environmentId: string | null;
  readonly modelId: string | null;
  readonly skill: string | null;
  /** The agent's command, or the name of a preset; null: the environment's, or the service's. */
  readonly command: string | null;
}

/** All declarations. */
export interface Catalog {
  readonly environments: readonly EnvironmentSpec[];
  /** null if no model is declared. */
  readonly defaultModelId: string | null;
  readonly models: readonly ModelSpec[];
  readonly skills: readonly SkillSpec[];
  readonly factories: readonly FactorySpec[];
}

/** No declarations. */
export const emptyCatalog: Catalog = {
  environments: [],
  defaultModelId: null,
  models: [],
  skills: [],
  factories: [],
};

/** The environment with this id; null if none is declared with it. */
export const environmentIn = (
  { environments }: Catalog,
  id: string | null | undefined,
): EnvironmentSpec | null => environments.find((each) => each.id === id) ?? null;

/** The factory with this uid; null if none is declared with it. */
export const factoryIn = ({ factories }: Catalog, uid: string | null): FactorySpec | null =>
  factories.find((each) => each.uid === uid) ?? null;

/**
 * The last two parts of a repository's URL or path; null if it has none. The rest of the address may be secret.
 */
export function repositoryName(address: string | null): { owner: string; repo: string } | null {
  const [, owner, repo] = /([\w.-]+)[/:\\]([\w.-]+?)(?:\.git)?\/*$/i.exec(address ?? "") ?? [];
  return owner === undefined || repo === undefined ? null : { owner, repo };
}

/** Whether the repository at the address is called `name`, an `owner/repo` in any case. */
export function isRepository(address: string | null, name: string): boolean {
  const found = repositoryName(address);
  return found !== null && `${found.owner}/${found.repo}`.toLowerCase() === name.toLowerCase();
}
