import { z } from "zod";
import { agentConfig, knownStates, textMap } from "#agent-runs/schema.ts";

/** Who said what, in which turn (1 is the first); `at` in milliseconds since the epoch. */
const utterance = z.object({
  role: z.enum(["user", "assistant", "system"]),
  at: z.number(),
  turn: z.number().int(),
  text: z.string(),
});
export type Utterance = z.infer<typeof utterance>;

/** What a run has brought forth; `at` is when it was first found. */
const artifact = z.discriminatedUnion("kind", [
  /** `branch` is "" where nobody can tell. */
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

/** A file that came with the request; its bytes are with attachments.ts. */
const keptAttachment = z.object({ name: z.string(), mime: z.string(), bytes: z.number() });
export type KeptAttachment = z.infer<typeof keptAttachment>;

/** What listing and fetching tell of a run. Times in milliseconds since the epoch. */
const run = z.object({
  id: z.string().min(1),
  /** Place in the order of creation. */
  order: z.number().int(),
  /** Place in the queue; a run that a follow-up continues stands in line anew. */
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
  /** The factory that it was sent to. */
  factoryUid: z.string().nullable(),
  attachments: z.array(keptAttachment),
  /** Time spent in turns that are over. */
  workedMs: z.number(),
  /** Whoever has it may read the run's session page. */
  sessionKey: z.string(),
});
export type Run = z.infer<typeof run>;

/** Whoever holds the API key is the one creator, and the API the one source, of this service's runs. */
export const creatorUid = "api-key";
export const sourceOfAll = "API";

/** One run on disk, whole: one write changes it. */
const runDocument = z.object({
  version: z.literal(2),
  run,
  /** What the agent was given and what it answered, oldest first. */
  said: z.array(utterance),
  /** What people said that the agent was not given yet, oldest first. */
  waiting: z.array(z.object({ at: z.number(), text: z.string() })),
  /** Turns begun so far. */
  turn: z.number().int(),
  /** When the turn under way began; null between turns. */
  turnBegan: z.number().nullable(),
});
export type RunDocument = z.infer<typeof runDocument>;

/** As the first version had it: pull requests alone, no factory, no attachments. */
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

/** Throws if the value is not a run as this version writes it. */
export const parseRun = (value: unknown): Run => run.parse(value);

const anyVersion = z.discriminatedUnion("version", [runDocument, firstVersion]);

/** Throws if the value is not a run's document, of this version or an earlier one. */
export function parseRunDocument(value: unknown): RunDocument {
  const document = anyVersion.parse(value);
  return document.version === 1 ? fromFirst(document) : document;
}
