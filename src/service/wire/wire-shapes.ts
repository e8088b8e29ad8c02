/**
 * The requests and responses of this service: the contract's shapes, narrowed to the fields that this service
 * always sends and the forms in which it sends them.
 */
import { z } from "zod";
import {
  artifact,
  artifactData,
  attachment,
  block,
  conversation,
  createRequest,
  createResponse,
  environment,
  environmentConfig,
  environmentsResponse,
  factory,
  factoryList,
  factoryRunRequest,
  factoryRunResponse,
  followUpRequest,
  knownRoles,
  knownStates,
  listResponse,
  mcpServerConfig,
  message,
  metadata,
  model,
  modelsResponse,
  pageInfo,
  principal,
  problem,
  runItem,
  skill,
  skillsResponse,
  skillVariant,
  statusMessage,
} from "#agent-runs/schema.ts";

/** Older SDKs send images separately, without file names. */
const image = z.looseObject({
  mime_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
  data: z.base64(),
});
const requested = createRequest.shape;
const configured = requested.config.unwrap().shape;

const config = requested.config.unwrap().extend({
  name: configured.name.describe("A label to group and filter runs by. Defaults to the name of the skill."),
  model_id: configured.model_id.describe("A model of `GET /agent/models`; any id if that lists none."),
  base_prompt: configured.base_prompt.describe("Text before the prompt."),
  environment_id: configured.environment_id.describe(
    "An environment of `GET /agent/environments`; any id if that lists none.",
  ),
  skill_spec: configured.skill_spec.describe(
    "A skill of `GET /agent`, `owner/repo:name` or `owner/repo:path/to/SKILL.md`; any skill if none is declared.",
  ),
  idle_timeout_minutes: z
    .int("it must be a whole number of minutes")
    .min(1, "it must be 1 at least")
    .max(60, "it must be 60 at most")
    .nullish()
    .describe("Accepted without effect here."),
  skills: configured.skills.describe("Stored without effect here: name one skill as `skill_spec`."),
  mcp_servers: configured.mcp_servers.describe(
    "MCP servers for the agent, by name; each has exactly one of `command`, `url` and `warp_id`.",
  ),
});

export const runRequest = createRequest.extend({
  prompt: requested.prompt.describe("The agent's task. Required unless a skill is given."),
  title: requested.title.describe("Defaults to the prompt's first line."),
  config: config.optional(),
  skill: requested.skill.describe("Overrides the configuration's `skill_spec`."),
  conversation_id: requested.conversation_id.describe(
    "The conversation of an earlier run, which the new one continues.",
  ),
  attachments: requested.attachments.describe(
    "At most 5 files for the agent; `data` is base64. The whole body has at most 10 MB, which leaves about 7 MB for files.",
  ),
  images: z.array(image).max(5).optional().describe("Attachments without names, from older clients."),
  mode: requested.mode.describe("Accepted without effect here."),
  interactive: requested.interactive.describe("Accepted without effect here."),
  team: requested.team.describe("Accepted without effect here."),
  agent_identity_uid: requested.agent_identity_uid.describe("Refused: there are no agent identities here."),
  on_behalf_of: requested.on_behalf_of.describe("Accepted without effect here."),
  parent_run_id: requested.parent_run_id.describe("The run that created this one. It must exist."),
});
export type RunRequest = z.infer<typeof runRequest>;

/** Becomes metadata of the run, so the limits of metadata apply. */
const ticketPart = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= 256 && !value.includes("\0"), "at most 256 bytes, no NUL")
  .optional();
export const factoryRequest = factoryRunRequest.extend({ ticket_ref: ticketPart, ticket_url: ticketPart });
export type FactoryRequest = z.infer<typeof factoryRequest>;

const time = z.iso.datetime();

const pairs = z.record(z.string(), z.string());
const runState = z
  .enum(knownStates)
  .describe("A run ends as SUCCEEDED, FAILED, ERROR or CANCELLED; a follow-up continues it.");

const artifactAnswer = artifact.extend({
  artifact_type: z.enum(["PULL_REQUEST", "FILE"]),
  created_at: time,
  data: artifactData,
});

/** `FileArtifactResponse` of the public document. */
export const artifactFileAnswer = z.looseObject({
  artifact_type: z.literal("FILE"),
  artifact_uid: z.string(),
  created_at: time,
  data: z.looseObject({
    content_type: z.string(),
    download_url: z.url().describe("Needs no API key."),
    expires_at: time.describe("The end of the address, an hour after the request."),
    filename: z.string(),
    filepath: z.string().describe("Relative to the run's folder of artifacts."),
    size_bytes: z.number(),
  }),
});

export const sessionRedirectAnswer = z.looseObject({ conversation_id: z.string().optional() });
export const conversationRedirectAnswer = z.looseObject({ session_id: z.string().optional() });

export const runAnswer = runItem.extend({
  task_id: z.string().describe("The same as `run_id`, for older clients."),
  title: z.string(),
  prompt: z.string(),
  state: runState,
  created_at: time,
  updated_at: time,
  started_at: time.optional(),
  session_id: z.string(),
  session_link: z.url().describe("The run's page for people. The address contains a key for this run."),
  conversation_id: z.string().describe("A new run with this id continues the conversation."),
  agent_config: config.describe("The resolved configuration, unknown members included."),
  creator: principal,
  executor: principal,
  source: z.string().describe("Always `API` here."),
  metadata: pairs,
  status_message: statusMessage.optional(),
  artifacts: z.array(artifactAnswer),
  run_time: z.string().optional().describe("The time that the agent worked, an ISO 8601 duration."),
  is_run_type_cancellable: z.boolean(),
  parent_run_id: z.string().optional(),
});

const pageAnswer = pageInfo.extend({ next_cursor: z.string().optional() });
export const listAnswer = listResponse.extend({ runs: z.array(runAnswer), page_info: pageAnswer });

export const createAnswer = createResponse.extend({
  task_id: z.string(),
  state: runState,
  at_capacity: z.boolean().describe("The run waits for another one to end."),
});
export const followUpAnswer = z.strictObject({}).describe("The follow-up was accepted.");
export const cancelAnswer = z.string().describe("The id of the cancelled run.");

const messageAnswer = message.extend({
  role: z.enum(knownRoles),
  timestamp: time.optional(),
  content: z.array(block),
});
const stepAnswer = z.looseObject({
  id: z.string(),
  messages: z.array(messageAnswer),
  get steps() {
    return z.array(stepAnswer);
  },
});
export const conversationAnswer = conversation.extend({ steps: z.array(stepAnswer) });

const environmentAnswer = environment.extend({
  config: environmentConfig.extend({ name: z.string() }),
  last_updated: time.describe("When its declaration last changed."),
  setup_failed: z.boolean().describe("The newest run's set-up failed."),
});
export const environmentsAnswer = environmentsResponse.extend({ environments: z.array(environmentAnswer) });

const modelAnswer = model.extend({
  display_name: z.string(),
  provider: z.string(),
  vision_supported: z.boolean(),
});
export const modelsAnswer = modelsResponse.extend({
  default_model_id: z.string().optional().describe("Absent if no model is declared."),
  models: z.array(modelAnswer),
});

const variantAnswer = skillVariant.extend({
  description: z.string(),
  base_prompt: z.string(),
  environments: z.array(z.looseObject({ uid: z.string(), name: z.string() })),
  last_run_timestamp: time.optional(),
});
const skillAnswer = skill.extend({ variants: z.array(variantAnswer) });
export const skillsAnswer = skillsResponse.extend({ agents: z.array(skillAnswer) });

export const factoryAnswer = factory.extend({ aliases: z.array(z.string()) });
export const factoriesAnswer = factoryList.extend({
  factories: z.array(factoryAnswer),
  page_info: pageAnswer,
});
export const factoryRunAnswer = factoryRunResponse.extend({
  ...createAnswer.shape,
  factory_uid: z.string(),
  run_url: z.url().describe("The run's page."),
});

export const problemAnswer = problem.extend({
  type: z.string().describe("A URI that ends in the error code."),
  status: z.number(),
  error: z.string().describe("Title and detail."),
  detail: z.string().describe("The fault and the field that has it."),
  instance: z.string().describe("The request's path."),
  retryable: z.boolean().describe("Whether the same request may succeed later."),
  trace_id: z.string().describe("The id of this error in the service's log."),
});

/** The shapes that the API's description names. */
export const named: Readonly<Record<string, z.ZodType>> = {
  RunAgentRequest: runRequest,
  RunAgentResponse: createAnswer,
  AmbientAgentConfig: config,
  MCPServerConfig: mcpServerConfig,
  Attachment: attachment,
  Metadata: metadata,
  RunState: runState,
  RunItem: runAnswer,
  RunStatusMessage: statusMessage,
  RunCreatorInfo: principal,
  Artifact: artifactAnswer,
  FileArtifactResponse: artifactFileAnswer,
  ListRunsResponse: listAnswer,
  PageInfo: pageAnswer,
  RunFollowupRequest: followUpRequest,
  Conversation: conversationAnswer,
  Step: stepAnswer,
  Message: messageAnswer,
  Block: block,
  Environment: environmentAnswer,
  ListEnvironmentsResponse: environmentsAnswer,
  Model: modelAnswer,
  ListModelsResponse: modelsAnswer,
  Skill: skillAnswer,
  SkillVariant: variantAnswer,
  ListSkillsResponse: skillsAnswer,
  Factory: factoryAnswer,
  ListFactoriesResponse: factoriesAnswer,
  FactoryRunRequest: factoryRequest,
  FactoryRunResponse: factoryRunAnswer,
  Error: problemAnswer,
};
