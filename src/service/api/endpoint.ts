import type { z } from "zod";
import type { Sessions } from "#service/sessions/sessions.ts";
import type { Result, ServiceCode } from "#service/wire/problem.ts";
import type { QueryParameter } from "#service/wire/query.ts";

/** What the endpoints ask of the service; each value is the body of a 200. */
export interface Operations {
  create(request: Request): Promise<Result<unknown>>;
  list(parameters: URLSearchParams): Promise<Result<unknown>>;
  fetch(runId: string): Outcome;
  conversation(runId: string): Promise<Result<unknown>>;
  followUp(runId: string, request: Request): Promise<Result<unknown>>;
  cancel(runId: string): Promise<Result<unknown>>;
  environments(parameters: URLSearchParams): Promise<Result<unknown>>;
  models(): Result<unknown>;
  skills(parameters: URLSearchParams): Promise<Result<unknown>>;
  factories(parameters: URLSearchParams): Result<unknown>;
  factory(uid: string): Result<unknown>;
  /** Makes a run of the factory. */
  dispatch(uid: string, request: Request): Promise<Result<unknown>>;
  readonly sessions: Sessions;
}

/** What a request asks for. */
export interface Asked {
  readonly request: Request;
  /** The path's parameter of that name, decoded. */
  parameter(name: string): string;
  readonly query: URLSearchParams;
}

/** A response is sent as it is. */
export type Outcome = Result<unknown> | Response;

/** Of a response that is made of JSON text. */
export const jsonAnswer = { headers: { "content-type": "application/json", "cache-control": "no-store" } };

/**
 * One method of one path: what it takes, what it answers and what does it. The routes, the methods that are
 * refused, the OpenAPI document and its page are all made from these.
 */
export interface Endpoint {
  /** Name of the operation, unlike all others. */
  readonly id: string;
  readonly method: "GET" | "POST";
  /** Below the base path; what stands in braces is a parameter. */
  readonly path: string;
  readonly group: Group;
  /** A few words. */
  readonly summary: string;
  readonly description?: string;
  /** Answered without the API key. */
  readonly open?: true;
  /** By name; how the request is to write each. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  readonly body?: z.ZodType;
  /** Shape of the JSON of a 200, or what else it is. */
  readonly answer: z.ZodType | { readonly media: string; readonly what: string };
  /** With which codes it may be refused, besides those that any request may. */
  readonly refusals: readonly ServiceCode[];
  handle(operations: Operations, asked: Asked): Outcome | Promise<Outcome>;
}

export const groups = ["Runs", "What can be picked", "Factories", "Sessions", "This description"] as const;
export type Group = (typeof groups)[number];

export const isMedia = (
  answer: Endpoint["answer"],
): answer is { readonly media: string; readonly what: string } => "media" in answer;
