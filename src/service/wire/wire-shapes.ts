/**
 * What this service takes and answers: the contract's shapes, with what this service always tells, and in
 * which form, where the contract lets readers be lenient.
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

/** Older SDKs send images by themselves, without file names. */
const image = z.looseObject({
  mime_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
  data: z.base64(),
});
const requested = createRequest.shape;
const configured = requested.config.unwrap().shape;

const config = requested.config.unwrap().extend({
  name: configured.name.describe(
    "A label to group and filter runs by; the skill's name if a skill is given.",
  ),
  model_id: configured.model_id.describe("One of `GET /agent/models`, or any if there is none."),
  base_prompt: configured.base_prompt.describe("Stands before the prompt."),
  environment_id: configured.environment_id.describe(
    "One of `GET /agent/environments`, or any if there is none.",
  ),
  skill_spec: configured.skill_spec.describe("A skill, `owner/repo:name` or `owner/repo:path/to/SKILL.md`."),
  skills: configured.skills.describe("Kept, and without effect here: name one skill as `skill_spec`."),
  mcp_servers: configured.mcp_servers.describe(
    "Tool servers for the agent, by name; each has exactly one of `command`, `url` and `warp_id`.",
  ),
});

export const runRequest = createRequest.extend({
  prompt: requested.prompt.describe("What the agent is to do. Required unless a skill is given."),
  title: requested.title.describe("The prompt's first line if left out."),
  config: config.optional(),
  skill: requested.skill.describe("Wins over the configuration's `skill_spec`."),
  conversation_id: requested.conversation_id.describe("An earlier run's conversation, to go on with."),
  attachments: requested.attachments.describe(
    "Files for the agent, at most 5; `data` is base64. The whole body has at most 10 MB, so that there is room for about 7 MB of files.",
  ),
  images: z.array(image).max(5).optional().describe("Attachments of older clients, which have no names."),
  mode: requested.mode.describe("Accepted, and without effect here."),
  interactive: requested.interactive.describe("Accepted, and without effect here."),
  team: requested.team.describe("Accepted, and without effect here."),
  agent_identity_uid: requested.agent_identity_uid.describe("Accepted, and without effect here."),
  on_behalf_of: requested.on_behalf_of.describe("Accepted, and without effect here."),
  parent_run_id: requested.parent_run_id.describe("The run that asks for this one."),
});
export type RunRequest = z.infer<typeof runRequest>;

/** Kept as the run's metadata, within its limits. */
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
  .describe("SUCCEEDED, FAILED, ERROR and CANCELLED are ends; a follow-up takes an ended run up again.");

const artifactAnswer = artifact.extend({
  artifact_type: z.enum(["PULL_REQUEST", "FILE"]),
  created_at: time,
  data: artifactData,
});

export const runAnswer = runItem.extend({
  task_id: z.string().describe("The same as run_id, which is to be used instead."),
  title: z.string(),
  prompt: z.string(),
  state: runState,
  created_at: time,
  updated_at: time,
  started_at: time.optional(),
  session_id: z.string(),
  session_link: z.url().describe("The run's page, for people; its address holds a key of its own."),
  conversation_id: z.string().describe("A new run that names it goes on with this conversation."),
  agent_config: config.describe("What the run was resolved to, unknown members included."),
  creator: principal,
  source: z.string().describe("Always API here."),
  metadata: pairs,
  status_message: statusMessage.optional(),
  artifacts: z.array(artifactAnswer),
  run_time: z.string().optional().describe("How long the agent worked, an ISO 8601 duration."),
  is_run_type_cancellable: z.boolean(),
  parent_run_id: z.string().optional(),
});

const pageAnswer = pageInfo.extend({ next_cursor: z.string().optional() });
export const listAnswer = listResponse.extend({ runs: z.array(runAnswer), page_info: pageAnswer });

export const createAnswer = createResponse.extend({
  task_id: z.string(),
  state: runState,
  at_capacity: z.boolean().describe("The run waits until another one is done."),
});
export const followUpAnswer = z.strictObject({}).describe("The follow-up is accepted.");
export const cancelAnswer = z.string().describe("The cancelled run's id.");

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

const environmentAnswer = environment.extend({ config: environmentConfig.extend({ name: z.string() }) });
export const environmentsAnswer = environmentsResponse.extend({ environments: z.array(environmentAnswer) });

const modelAnswer = model.extend({ display_name: z.string(), provider: z.string() });
export const modelsAnswer = modelsResponse.extend({
  default_model_id: z.string().optional().describe("Absent where no model is declared."),
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
  type: z.string().describe("A URI that ends in the error's code."),
  status: z.number(),
  error: z.string().describe("Title and detail in one."),
  detail: z.string().describe("What is wrong, and where."),
  instance: z.string().describe("The request's path."),
  retryable: z.boolean().describe("Whether the same request may succeed later."),
  trace_id: z.string().describe("Found in the service's log."),
});

/** Under which name each shape stands in the description. */
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
