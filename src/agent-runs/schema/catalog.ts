/** The environments, models and skills that a run can use. */
import { z } from "zod";
import { list, maybe, text } from "./lenient.ts";
import { principal, scope } from "./run.ts";

/** Query of `GET /agent/environments`; the service's default is `last_updated`, newest first. */
export const environmentsQuery = z.object({ sort_by: z.enum(["name", "last_updated"]).optional() });
export type EnvironmentsQuery = Readonly<z.infer<typeof environmentsQuery>>;

/** `CloudEnvironmentConfig`. */
export const environmentConfig = z.looseObject({
  name: maybe(z.string()),
  description: maybe(z.string()),
  docker_image: maybe(z.string()),
  github_repos: maybe(z.array(z.looseObject({ owner: z.string(), repo: z.string() }))),
  setup_commands: maybe(z.array(z.string())),
});

/** `CloudEnvironment`; `uid` goes into a configuration's `environment_id`. Times are RFC 3339. */
export const environment = z.looseObject({
  uid: z.string().min(1),
  config: environmentConfig,
  last_updated: maybe(z.string()),
  last_task_run_timestamp: maybe(z.string()),
  last_task_created: maybe(
    z.looseObject({
      id: z.string(),
      title: maybe(z.string()),
      state: maybe(z.string()),
      created_at: maybe(z.string()),
      updated_at: maybe(z.string()),
      started_at: maybe(z.string()),
    }),
  ),
  /** The newest task failed during set-up. */
  setup_failed: maybe(z.boolean()),
  scope: maybe(scope),
  creator: maybe(principal),
  last_editor: maybe(principal),
});
export type Environment = z.infer<typeof environment>;

/** Answer of `GET /agent/environments`. */
export const environmentsResponse = z.looseObject({ environments: list(environment) });
export type EnvironmentsResponse = z.infer<typeof environmentsResponse>;

/** `id` goes into a configuration's `model_id`. */
export const model = z.looseObject({
  id: z.string().min(1),
  display_name: maybe(z.string()),
  /** `OPENAI`, `ANTHROPIC`, `GOOGLE`, `UNKNOWN`, … */
  provider: maybe(z.string()),
  vision_supported: maybe(z.boolean()),
  description: maybe(z.string()),
  reasoning_level: maybe(z.string()),
  /** Why the model can't be used at present, if so: `PROVIDER_OUTAGE`, `OUT_OF_REQUESTS`, `ADMIN_DISABLED`, … */
  disable_reason: maybe(z.string()),
});
export type Model = z.infer<typeof model>;

/** Answer of `GET /agent/models`. */
export const modelsResponse = z.looseObject({ default_model_id: maybe(z.string()), models: list(model) });
export type ModelsResponse = z.infer<typeof modelsResponse>;

/** Query of `GET /agent`. */
export const skillsQuery = z.object({
  /** `owner/repo`; if absent, the skills of every environment. */
  repo: z.string().optional(),
  /** Reads the repositories again. */
  refresh: z.boolean().optional(),
  /** `name` if absent. */
  sort_by: z.enum(["name", "last_run"]).optional(),
  /** Includes skills whose file can't be read; their variants have an `error`. */
  include_malformed_skills: z.boolean().optional(),
});
export type SkillsQuery = Readonly<z.infer<typeof skillsQuery>>;

/** `id` is `owner/repo:path`, and goes into a create request's `skill`. */
export const skillVariant = z.looseObject({
  id: z.string().min(1),
  description: text,
  base_prompt: text,
  source: maybe(
    z.looseObject({
      owner: maybe(z.string()),
      name: maybe(z.string()),
      skill_path: maybe(z.string()),
      worker_host: maybe(z.string()),
    }),
  ),
  environments: list(z.looseObject({ uid: z.string(), name: maybe(z.string()) })),
  /** RFC 3339. */
  last_run_timestamp: maybe(z.string()),
  error: maybe(z.string()),
});

/** One skill, with each place where it was found. */
export const skill = z.looseObject({ name: z.string(), variants: list(skillVariant) });
export type Skill = z.infer<typeof skill>;

/** Answer of `GET /agent`. */
export const skillsResponse = z.looseObject({ agents: list(skill) });
export type SkillsResponse = z.infer<typeof skillsResponse>;
