import { z } from "zod";
import { agentConfig, knownStates } from "../agent-runs/schema.ts";

/** Who said what, in which turn (1 is the first); `at` in milliseconds since the epoch. */
const utterance = z.object({
  role: z.enum(["user", "assistant", "system"]),
  at: z.number(),
  turn: z.number().int(),
  text: z.string(),
});
export type Utterance = z.infer<typeof utterance>;

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
  metadata: z.record(z.string(), z.string()),
  parentRunId: z.string().nullable(),
  conversationId: z.string(),
  statusMessage: z
    .object({ message: z.string(), error_code: z.string().optional(), retryable: z.boolean().optional() })
    .nullable(),
  pullRequests: z.array(z.object({ url: z.string(), at: z.number() })),
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
  version: z.literal(1),
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

/** Throws if the value is not a run's document. */
export const parseRunDocument = (value: unknown): RunDocument => runDocument.parse(value);
