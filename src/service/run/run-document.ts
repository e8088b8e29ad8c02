import { z } from "zod";
import { agentConfig, knownStates, textMap } from "#agent-runs/schema.ts";

/** A message of the conversation. The first turn is 1; `at` in milliseconds since the epoch. */
const utterance = z.object({
  role: z.enum(["user", "assistant", "system"]),
  at: z.number(),
  turn: z.number().int(),
  text: z.string(),
});
export type Utterance = z.infer<typeof utterance>;

/** A result of a run; `at` is the time when it was first found. */
const artifact = z.discriminatedUnion("kind", [
  /** `branch` is "" if it is unknown. */
  z.object({ kind: z.literal("pull_request"), url: z.string(), branch: z.string(), at: z.number() }),
  /** `path` is absolute, on the service's machine. */
  z.object({
    kind: z.literal("file"),
    uid: z.string(),
    name: z.string(),
    path: z.string(),
    mime: z.string(),
    bytes: z.number(),
    at: z.number(),
  }),
]);
export type RunArtifact = z.infer<typeof artifact>;

/** The types of artifacts on the wire. */
export const artifactTypes = { pull_request: "PULL_REQUEST", file: "FILE" } as const satisfies Record<
  RunArtifact["kind"],
  string
>;

/** A file of the request; attachments.ts keeps its content. */
const keptAttachment = z.object({ name: z.string(), mime: z.string(), bytes: z.number() });
export type KeptAttachment = z.infer<typeof keptAttachment>;

/** The part of a run that listing and fetching need. Times in milliseconds since the epoch. */
const run = z.object({
  id: z.string().min(1),
  /** Place in the order of creation. */
  order: z.number().int(),
  /** Place in the queue. A follow-up to an ended run gives it a new one. */
  queued: z.number().int(),
  title: z.string(),
  prompt: z.string(),
  state: z.enum(knownStates),
  createdAt: z.number(),
  updatedAt: z.number(),
  startedAt: z.number().nullable(),
  config: agentConfig,
  skill: z.string().nullable(),
  metadata: textMap,
  parentRunId: z.string().nullable(),
  conversationId: z.string(),
  statusMessage: z
    .object({ message: z.string(), error_code: z.string().optional(), retryable: z.boolean().optional() })
    .nullable(),
  artifacts: z.array(artifact),
  /** The factory that created it. */
  factoryUid: z.string().nullable(),
  attachments: z.array(keptAttachment),
  /** Time spent in turns that are over. */
  workedMs: z.number(),
  /** The secret of its session links (session-keys.ts). */
  sessionKey: z.string(),
});
export type Run = z.infer<typeof run>;

/** All runs of this service have the same creator, the owner of the API key, and the same source. */
export const creatorUid = "api-key";
export const sourceOfAll = "API";

/** A whole run, which each write replaces. */
const runDocument = z.object({
  version: z.literal(2),
  run,
  /** The messages given to the agent, its answers and the service's remarks, oldest first. */
  said: z.array(utterance),
  /** Messages that the agent has not been given yet, oldest first. */
  waiting: z.array(z.object({ at: z.number(), text: z.string() })),
  /** Turns begun so far. */
  turn: z.number().int(),
  /** When the turn under way began; null between turns. */
  turnBegan: z.number().nullable(),
});
export type RunDocument = z.infer<typeof runDocument>;

/** The first version of a document had pull requests only, no factory and no attachments. */
const firstVersion = z.object({
  ...runDocument.shape,
  version: z.literal(1),
  run: run
    .omit({ artifacts: true, factoryUid: true, attachments: true })
    .extend({ pullRequests: z.array(z.object({ url: z.string(), at: z.number() })) }),
});

function fromFirst({ run: before, ...rest }: z.infer<typeof firstVersion>): RunDocument {
  const { pullRequests, ...kept } = before;
  const artifacts = pullRequests.map(({ url, at }) => ({
    kind: "pull_request" as const,
    url,
    branch: "",
    at,
  }));
  return { ...rest, version: 2, run: { ...kept, artifacts, factoryUid: null, attachments: [] } };
}

/** Throws if the value is not a run in the current version's form. */
export const parseRun = (value: unknown): Run => run.parse(value);

const anyVersion = z.discriminatedUnion("version", [runDocument, firstVersion]);

/** Reads a document of any version. Throws if the value is not one. */
export function parseRunDocument(value: unknown): RunDocument {
  const document = anyVersion.parse(value);
  return document.version === 1 ? fromFirst(document) : document;
}
