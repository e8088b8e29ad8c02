/** The bot's config file: the core's rules, and the embedded service's section. */
import { z } from "zod";
import { stateLabels } from "#core/effect.ts";
import type { DispatchDefaults, Rules } from "#core/policy.ts";
import type { NameForm, PlatformKind, ReadFile } from "#ports.ts";
import { readYaml } from "./file.ts";
import { type ServiceOffer, serviceSection } from "./service-section.ts";
import { emptied, keys, mapOf, text, texts } from "./yaml-keys.ts";

/** The rules, except those that the environment sets. */
type FileRules = Omit<Rules, "runName">;

/** The parsed config file. */
export interface BotFile {
  /** Its name in sentences for people. */
  readonly called: string;
  readonly rules: FileRules;
  /** Settling times that the file sets, in milliseconds, by `api` and the platforms' names. */
  readonly settlingMs: Readonly<Record<string, number>>;
  /** See `createCatchUp`. */
  readonly livelyMs: number;
  /** Whether posts are spaced as the platforms ask. */
  readonly isPaced: boolean;
  readonly service: ServiceOffer;
  /** Whether the file has the section `service`. */
  readonly hasService: boolean;
}

/** The result of `readBotFile`. */
export type BotFileReading =
  | ({ readonly ok: true } & BotFile)
  | { readonly ok: false; readonly problems: readonly string[] };

const defaults = keys({
  model: text.exactOptional(),
  environment: text.exactOptional(),
  skill: text.exactOptional(),
  factory: text.exactOptional(),
  base_prompt: text.exactOptional(),
  mcp: texts.exactOptional(),
}).transform(
  ({ base_prompt, ...same }): DispatchDefaults =>
    base_prompt === undefined ? same : { ...same, basePrompt: base_prompt },
);

/** A label that the bot adds to show a run's state can't start a run. */
const startLabel = text.refine(
  (name) => !stateLabels.some((own) => own === name.toLowerCase()),
  `the bot shows a run's state with ${stateLabels.join(", ")}: choose another label`,
);

const named = ({ pattern, advice }: NameForm) => text.regex(pattern, advice);
const listOf = (form: NameForm) => z.array(named(form), "must be a list").exactOptional();

/** The platforms' own keys: the defaults in each of their scopes. */
const scopeKeys = (platforms: readonly PlatformKind[]) =>
  Object.fromEntries(platforms.map(({ scopes }) => [scopes.key, mapOf(named(scopes), defaults)]));

/** Who may use the bot on one platform. */
const permission = ({ people, scopes }: PlatformKind) =>
  keys({ people: listOf(people), [scopes.key]: listOf(scopes) })
    .transform((given) => {
      const { people, [scopes.key]: names } = given;
      return {
        ...(people === undefined ? {} : { people }),
        ...(names === undefined ? {} : { scopes: names.map((name) => scopes.scopeOf(name)) }),
      };
    })
    .nullish();

/** Settling times by system; the default is the system's own. */
const settlingKeys = (platforms: readonly PlatformKind[]) =>
  Object.fromEntries(
    ["api", ...platforms.map(({ name }) => name)].map((name) => [
      name,
      z
        .number("must be a number")
        .min(0, "must be 0 or more")
        .max(3_600, "must be 3600 at most")
        .exactOptional(),
    ]),
  );

const fileOf = (platforms: readonly PlatformKind[]) =>
  keys({
    defaults: emptied(defaults),
    ...scopeKeys(platforms),
    labels: z.record(startLabel, emptied(defaults), "must be a mapping").nullish(),
    mcp_servers: emptied(
      z.record(text, z.record(z.string(), z.unknown(), "must be a mapping"), "must be a mapping"),
    ),
    permissions: emptied(keys(Object.fromEntries(platforms.map((kind) => [kind.name, permission(kind)])))),
    replies: z.enum(["all", "mention"], { error: "must be all or mention" }).default("all"),
    limits: emptied(
      keys({
        retry_for_hours: z
          .number("must be a number")
          .positive("must be above 0")
          .max(168, "must be 168 at most")
          .default(24),
        catch_up_days: z
          .number("must be a number")
          .positive("must be above 0")
          .max(90, "must be 90 at most")
          .default(7),
        settling_seconds: emptied(keys(settlingKeys(platforms))),
        paced: z.boolean("must be true or false").default(true),
      }),
    ),
    service: emptied(serviceSection),
  });

/** Reads the file of the bot; see `readYaml`. */
export function readBotFile(
  chosen: string | undefined,
  readFile: ReadFile,
  platforms: readonly PlatformKind[],
): BotFileReading {
  const file = readYaml(chosen, readFile, fileOf(platforms));
  if (!file.ok) return file;
  const { called, value, given, has } = file;
  const rules = toRules(value, z.object(scopeKeys(platforms)).parse(given), platforms);
  const problems = unknownServers(called, rules);
  if (problems.length > 0) return { ok: false, problems };
  const settlingMs = Object.fromEntries(
    Object.entries(value.limits.settling_seconds).flatMap(([name, seconds]) =>
      seconds === undefined ? [] : [[name, seconds * 1_000]],
    ),
  );
  const livelyMs = value.limits.catch_up_days * 24 * 3_600_000;
  return {
    ok: true,
    called,
    rules,
    settlingMs,
    livelyMs,
    isPaced: value.limits.paced,
    service: value.service,
    hasService: has("service"),
  };
}

/** `inScopes`: the values of the platforms' own keys. */
function toRules(
  from: z.output<ReturnType<typeof fileOf>>,
  inScopes: Readonly<Record<string, Readonly<Record<string, DispatchDefaults>>>>,
  platforms: readonly PlatformKind[],
): FileRules {
  const scopes = platforms.flatMap(({ scopes: { key, scopeOf } }) =>
    Object.entries(inScopes[key] ?? {}).map(([name, value]) => [scopeOf(name), value] as const),
  );
  const permitted = Object.entries(from.permissions).flatMap(([name, who]) =>
    who ? [[name, who] as const] : [],
  );
  return {
    defaults: from.defaults,
    scopes: Object.fromEntries(scopes),
    labels: from.labels ?? { agent: {} },
    mcpServers: from.mcp_servers,
    replies: from.replies,
    allow: Object.fromEntries(permitted),
    retryForMs: from.limits.retry_for_hours * 3_600_000,
    platforms: Object.fromEntries(
      platforms.map(({ name, facts }) => [name, from.limits.paced ? facts : { ...facts, holdMs: 0 }]),
    ),
  };
}

/** Problems of defaults that name an undeclared MCP server. */
function unknownServers(called: string, rules: FileRules): string[] {
  const known = Object.keys(rules.mcpServers);
  const named = [rules.defaults, ...Object.values(rules.scopes), ...Object.values(rules.labels)].flatMap(
    ({ mcp }) => mcp ?? [],
  );
  return [...new Set(named)]
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `${called}: mcp names ${name}, which is not under mcp_servers (${known.join(", ") || "empty"}).`,
    );
}
