import { type Document, LineCounter, parseDocument } from "yaml";
import { z } from "zod";
import { stateLabels } from "#core/effect.ts";
import type { DispatchDefaults, Rules } from "#core/policy.ts";
import { type ServiceOffer, serviceSection } from "./service-section.ts";
import { emptied, keys, text, texts } from "./yaml-keys.ts";

/** What the config file decides of the rules; the rest of them comes from the environment. */
type FileRules = Omit<Rules, "runName">;

export interface FileConfig {
  readonly rules: FileRules;
  readonly service: ServiceOffer;
  /** Whether the file says anything of the service. */
  readonly hasService: boolean;
}

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

const channel = text.regex(
  /^(T[A-Z0-9]+:)?[CDG][A-Z0-9]{2,}$/,
  "write the channel's id, such as C0123ABCD, found at the end of the channel's details",
);
const repository = text.regex(/^[\w.-]+\/[\w.-]+$/, "write the repository as owner/name");
const slackPerson = text.regex(
  /^[UW][A-Z0-9]{2,}$/,
  "write the member id, such as U0123ABCD, found in the person's profile",
);
const login = text.regex(/^[\w-]+(\[bot\])?$/, "write the GitHub login, without @");

/** The bot puts those of its own on by itself, and nobody's label is told from its own. */
const startLabel = text.refine(
  (name) => !stateLabels.some((own) => own === name.toLowerCase()),
  `the bot tells a run's state with ${stateLabels.join(", ")}: choose another label`,
);

const file = keys({
  defaults: emptied(defaults),
  channels: emptied(z.record(channel, emptied(defaults), "must be a mapping")),
  repositories: emptied(z.record(repository, emptied(defaults), "must be a mapping")),
  labels: z.record(startLabel, emptied(defaults), "must be a mapping").nullish(),
  mcp_servers: emptied(
    z.record(text, z.record(z.string(), z.unknown(), "must be a mapping"), "must be a mapping"),
  ),
  permissions: emptied(
    keys({
      slack: keys({
        people: z.array(slackPerson, "must be a list").exactOptional(),
        channels: z.array(channel, "must be a list").exactOptional(),
      }).nullish(),
      github: keys({
        people: z.array(login, "must be a list").exactOptional(),
        repositories: z.array(repository, "must be a list").exactOptional(),
      }).nullish(),
    }),
  ),
  replies: z.enum(["all", "mention"], { error: "must be all or mention" }).default("all"),
  limits: emptied(
    keys({
      retry_for_hours: z
        .number("must be a number")
        .positive("must be above 0")
        .max(168, "must be 168 at most")
        .default(24),
    }),
  ),
  service: emptied(serviceSection),
});

/**
 * Reads the config file's text; `null` stands for no file. `called` is how problems name the file. A problem
 * names the key and never repeats a value, since values may be secrets.
 */
export function readConfigFile(
  called: string,
  content: string | null,
): ({ ok: true } & FileConfig) | { ok: false; problems: string[] } {
  const lines = new LineCounter();
  const document = parseDocument(content ?? "", { prettyErrors: false, lineCounter: lines });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ code, pos: [start] }) => {
      const what = code.toLowerCase().replaceAll("_", " ");
      return `${called}, line ${lines.linePos(start).line}, is not valid YAML (${what}).`;
    });
    return { ok: false, problems };
  }
  const value = plainValue(document);
  if (value === null) {
    return {
      ok: false,
      problems: [`${called} has an alias (*name) without its anchor, or too many of them.`],
    };
  }
  const parsed = file.safeParse(value.value ?? {});
  if (!parsed.success)
    return { ok: false, problems: parsed.error.issues.flatMap((issue) => told(called, issue)) };
  const rules = toRules(parsed.data);
  const problems = unknownServers(called, rules);
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, rules, service: parsed.data.service, hasService: document.has("service") };
}

/** null: aliases lead nowhere, or would make far more of the file than it is, for which `yaml` throws. */
function plainValue(document: Document): { readonly value: unknown } | null {
  try {
    return { value: document.toJS() };
  } catch (error) {
    if (error instanceof ReferenceError) return null;
    throw error;
  }
}

function told(called: string, issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join(".");
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map(
        (key) => `${called}: ${[...issue.path, key].join(".")} is not known; ${issue.message}.`,
      );
    case "invalid_key":
      return issue.issues.map(({ message }) => `${called}: ${at} is not a name to use there; ${message}.`);
    default:
      return [`${called}: ${at || "the whole"} ${issue.message}.`];
  }
}

function toRules(from: z.output<typeof file>): FileRules {
  const { slack, github } = from.permissions;
  const scopes = {
    ...prefixed("slack", from.channels),
    ...prefixed("github", from.repositories),
  };
  return {
    defaults: from.defaults,
    scopes,
    labels: from.labels ?? { agent: {} },
    mcpServers: from.mcp_servers,
    replies: from.replies,
    allow: {
      ...(slack ? { slack: allowed("slack", slack.people, slack.channels) } : {}),
      ...(github ? { github: allowed("github", github.people, github.repositories) } : {}),
    },
    retryForMs: from.limits.retry_for_hours * 3_600_000,
  };
}

/** GitHub tells no capitals apart in owners and names; Slack's ids are kept as they are. */
const scopeOf = (platform: "slack" | "github", name: string): string =>
  `${platform}:${platform === "github" ? name.toLowerCase() : name}`;

const prefixed = (platform: "slack" | "github", given: Readonly<Record<string, DispatchDefaults>>) =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [scopeOf(platform, name), value]));

const allowed = (
  platform: "slack" | "github",
  people: readonly string[] | undefined,
  places: readonly string[] | undefined,
) => ({
  ...(people === undefined ? {} : { people }),
  ...(places === undefined ? {} : { scopes: places.map((name) => scopeOf(platform, name)) }),
});

/** Defaults that name an MCP server which the file doesn't describe. */
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
