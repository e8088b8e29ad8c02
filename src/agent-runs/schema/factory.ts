/** The separate factory API. A factory takes prompts and makes runs of them. */
import { z } from "zod";
import { list, maybe } from "./lenient.ts";
import type { Plain } from "./plain.ts";
import { pageInfo } from "./run.ts";
import { createResponse } from "./run-requests.ts";

/** Query of `GET /factory`. */
export const factoryQuery = z.object({
  /** A part of the name or alias; case does not matter. */
  search: z.string().optional(),
  /** The service's default is 50. */
  limit: z.number().int().min(1).max(100).optional(),
  /** `next_cursor` of the previous page. */
  cursor: z.string().optional(),
});
export type FactoryQuery = Readonly<z.infer<typeof factoryQuery>>;

/** Answer of `GET /factory/{uid}`; times are RFC 3339. */
export const factory = z.looseObject({
  uid: z.string(),
  name: z.string(),
  alias: maybe(z.string()),
  aliases: maybe(z.array(z.string())),
  description: maybe(z.string()),
  team_uid: maybe(z.string()),
  default_environment: maybe(z.string()),
  default_model: maybe(z.string()),
  /** `GITHUB`, `GITLAB`, `AZURE_DEVOPS`, `NONE`, … */
  code_forge: maybe(z.string()),
  repositories: maybe(z.array(z.looseObject({ owner: z.string(), repo: z.string() }))),
  created_at: maybe(z.string()),
  updated_at: maybe(z.string()),
});
export type Factory = z.infer<typeof factory>;

/** Answer of `GET /factory`, paged like the runs; a list without `page_info` is complete. */
export const factoryList = z.looseObject({ factories: list(factory), page_info: maybe(pageInfo) });
export type FactoryList = z.infer<typeof factoryList>;

/** Body of `POST /factory/{uid}/runs`. */
export const factoryRunRequest = z.looseObject({
  prompt: z.string().refine((prompt) => prompt.trim() !== "", "a factory needs a prompt"),
  title: z.string().optional(),
  /** `source:id` of the ticket that the run is for. */
  ticket_ref: z.string().optional(),
  ticket_url: z.string().optional(),
});
export type FactoryRunRequest = z.infer<typeof factoryRunRequest>;
/** A run to request from a factory: the prompt alone, or with more fields. */
export type NewFactoryRun = string | Plain<FactoryRunRequest>;

/** The answer: an ordinary run. */
export const factoryRunResponse = createResponse.extend({
  factory_uid: maybe(z.string()),
  /** Name of the agent that received the prompt. */
  foreman_agent: maybe(z.string()),
  ticket_ref: maybe(z.string()),
  run_url: maybe(z.string()),
});
export type FactoryRunResponse = z.infer<typeof factoryRunResponse>;
