/** The config file's section `service`: what the embedded service offers. */
import { resolve } from "node:path";
import { z } from "zod";
import { closest } from "#base/closest.ts";
import type { ReadFile } from "#ports.ts";
import type { Catalog, FactorySpec } from "#service/catalog.ts";
import { readYaml, type YamlReading } from "./file.ts";
import { emptied, keys, mapOf, text, texts } from "./yaml-keys.ts";

/** The embedded service's catalog and limits. */
export interface ServiceOffer {
  readonly catalog: Catalog;
  /** null: the bot's or the standalone service's default. */
  readonly sessionLinks: "read" | "steer" | null;
  /** The service has defaults for absent ones. */
  readonly bounds: {
    /** Runs that may wait for a free place. */
    readonly maxQueued?: number;
    /** How long a run's worktree is kept after its end. */
    readonly keepWorktreesMs?: number;
    readonly keepFilesMs?: number;
  };
}

const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "a variable has letters, digits and _, and begins with no digit");

const environment = keys({
  repository: text.exactOptional(),
  branch: text.exactOptional(),
  setup: texts.exactOptional(),
  command: text.exactOptional(),
  variables: mapOf(variable, z.string("must be a text; put numbers and the like in quotes")).exactOptional(),
  description: text.exactOptional(),
});

const model = keys({
  name: text.exactOptional(),
  provider: text.exactOptional(),
  vision: z.boolean("must be true or false").exactOptional(),
});

/** Either a mapping of ids, or a list of ids without names and providers. */
const models = z.preprocess(
  (value, context) => {
    if (!Array.isArray(value)) return value;
    const ids = value.filter((id) => typeof id === "string");
    const other = value.findIndex((id) => typeof id !== "string");
    if (other >= 0) {
      const message = "must be a text, the model's id; for a name and a provider write a mapping of ids";
      context.addIssue({ code: "custom", message, path: [other] });
    }
    return Object.fromEntries(ids.map((id) => [id, {}]));
  },
  mapOf(text, model),
);

const skillName = z.string().regex(/^[\w.-]+\/[\w.-]+:[^\s:]+$/, "write the skill as owner/repo:name");
const skill = keys({ file: text, description: text.exactOptional() });

const factory = keys({
  uid: text
    .regex(/^(?!\.+$)[\w.-]{1,100}$/, "has letters, digits and - _ . only, 100 at most")
    .exactOptional(),
  aliases: texts.exactOptional(),
  description: text.exactOptional(),
  base_prompt: text.exactOptional(),
  command: text.exactOptional(),
  environment: text.exactOptional(),
  model: text.exactOptional(),
  skill: skillName.exactOptional(),
});

const dayMs = 24 * 3_600_000;
const days = z.number("must be a number").positive("must be above 0").max(3650, "must be 3650 at most");

/** The section's schema. Messages continue the path of the fault and never repeat a value. */
export const serviceSection = keys({
  environments: mapOf(text, environment),
  models,
  default_model: text.exactOptional(),
  skills: mapOf(skillName, skill),
  factories: mapOf(text, factory),
  session_links: z.enum(["read", "steer"], { error: "must be read or steer" }).exactOptional(),
  max_queued: z
    .int("must be a whole number")
    .min(1, "must be 1 at least")
    .max(1_000_000, "must be 1000000 at most")
    .exactOptional(),
  keep_worktrees_days: days.exactOptional(),
  keep_files_days: days.exactOptional(),
})
  .superRefine((section, context) => {
    const fault = (path: string[], message: string): void =>
      context.addIssue({ code: "custom", message, path });
    const known = (what: "environments" | "models"): string =>
      `is not under service.${what} (${Object.keys(section[what]).join(", ") || "empty"})`;
    const named = Object.entries(section.factories);
    // If none is declared, any name is allowed.
    const declared = (what: "environments" | "models", id: string | undefined): boolean =>
      id === undefined || Object.hasOwn(section[what], id) || Object.keys(section[what]).length === 0;
    for (const [name, { environment, model }] of named) {
      if (!declared("environments", environment)) {
        fault(["factories", name, "environment"], known("environments"));
      }
      if (!declared("models", model)) fault(["factories", name, "model"], known("models"));
    }
    if (section.default_model !== undefined && !Object.hasOwn(section.models, section.default_model)) {
      fault(["default_model"], known("models"));
    }
    const uids = named.map(([name, { uid }]) => uid ?? slug(name));
    for (const [place, [name]] of named.entries()) {
      if (uids[place] === "") fault(["factories", name], "needs a uid, since its name has no letter of a-z");
      else if (uids.indexOf(uids[place] ?? "") < place) {
        fault(["factories", name], "has the uid of another factory: give it one of its own");
      }
    }
  })
  .transform(
    (section): ServiceOffer => ({
      sessionLinks: section.session_links ?? null,
      bounds: {
        ...(section.max_queued && { maxQueued: section.max_queued }),
        ...(section.keep_worktrees_days && { keepWorktreesMs: section.keep_worktrees_days * dayMs }),
        ...(section.keep_files_days && { keepFilesMs: section.keep_files_days * dayMs }),
      },
      catalog: {
        environments: Object.entries(section.environments).map(([id, from]) => ({
          id,
          description: from.description ?? null,
          repository: from.repository ?? null,
          branch: from.branch ?? null,
          setup: from.setup ?? [],
          command: from.command ?? null,
          variables: from.variables ?? {},
        })),
        defaultModelId: section.default_model ?? Object.keys(section.models)[0] ?? null,
        models: Object.entries(section.models).map(([id, { name, provider, vision }]) => ({
          id,
          name: name ?? id,
          provider: provider ?? "UNKNOWN",
          vision: vision ?? false,
        })),
        skills: Object.entries(section.skills).map(([spec, { file, description }]) => ({
          spec,
          description: description ?? null,
          file: resolve(file),
        })),
        factories: Object.entries(section.factories).map(toFactory),
      },
    }),
  );

const toFactory = ([name, from]: [string, z.output<typeof factory>]): FactorySpec => ({
  uid: from.uid ?? slug(name),
  name,
  aliases: from.aliases ?? [],
  description: from.description ?? null,
  basePrompt: from.base_prompt ?? null,
  environmentId: from.environment ?? null,
  modelId: from.model ?? null,
  skill: from.skill ?? null,
  command: from.command ?? null,
});

/** Derives a uid from a name, the same at every start, so that clients may keep it. */
const slug = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");

/** The config file as the standalone service reads it. */
const serviceFile = z.looseObject({ service: emptied(serviceSection) }).superRefine((file, context) => {
  for (const key of Object.keys(file)) {
    if (key === "service" || closest(key, ["service"]) === undefined) continue;
    context.addIssue({ code: "custom", path: [key], message: "is not known; the section is called service" });
  }
});

/** Reads the config file for the standalone service; see `readYaml`. */
export const readServiceFile = (
  chosen: string | undefined,
  readFile: ReadFile,
): YamlReading<{ readonly service: ServiceOffer }> => readYaml(chosen, readFile, serviceFile);

/** Returns the offer's secrets: variables, and passwords in addresses. */
export function secretsOfOffer({ catalog }: ServiceOffer): string[] {
  return catalog.environments.flatMap(({ variables, repository }) => {
    const [, password] = /^\w+:\/\/([^@/]+)@/.exec(repository ?? "") ?? [];
    return [...Object.values(variables), ...(password?.split(":") ?? [])];
  });
}
