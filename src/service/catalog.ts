/** What an operator has declared for the service to offer, as the config file's `service` section has it. */

/** A place to work in: a repository, how to set it up and which command works there. */
export interface EnvironmentSpec {
  /** What `config.environment_id` names. */
  readonly id: string;
  readonly description: string | null;
  /** URL or path that git can clone; null: each run works in an empty folder. */
  readonly repository: string | null;
  /** What a run's worktree begins at; null: the repository's default branch. */
  readonly branch: string | null;
  /** Run one after the other, by the shell, in each new worktree. */
  readonly setup: readonly string[];
  /** The agent's command there, or the name of a preset; null: the service's own. */
  readonly command: string | null;
  /** Added to the environment of the set-up and of the command; may hold secrets. */
  readonly variables: Readonly<Record<string, string>>;
}

export interface ModelSpec {
  readonly id: string;
  readonly name: string;
  readonly provider: string;
}

/** A skill that is declared by itself; those in the environments' repositories are found there. */
export interface SkillSpec {
  /** `owner/repo:skill-name`. */
  readonly spec: string;
  readonly description: string | null;
  /** Path of its SKILL.md. */
  readonly file: string;
}

/** A dispatch target: what a run that is sent to it begins with. */
export interface FactorySpec {
  readonly uid: string;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string | null;
  readonly basePrompt: string | null;
  readonly environmentId: string | null;
  readonly modelId: string | null;
  readonly skill: string | null;
  /** The agent's command of its runs, or the name of a preset; null: the environment's, or the service's. */
  readonly command: string | null;
}

export interface Catalog {
  readonly environments: readonly EnvironmentSpec[];
  /** null where no model is declared. */
  readonly defaultModelId: string | null;
  readonly models: readonly ModelSpec[];
  readonly skills: readonly SkillSpec[];
  readonly factories: readonly FactorySpec[];
}

export const emptyCatalog: Catalog = {
  environments: [],
  defaultModelId: null,
  models: [],
  skills: [],
  factories: [],
};
