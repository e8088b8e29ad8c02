import type { z } from "zod";
import type { Result, ServiceCode } from "#service/wire/problem.ts";
import type { QueryParameter } from "#service/wire/query.ts";
import type { Operations } from "./operations.ts";

/** A request as endpoints read it. */
export interface Asked {
  readonly request: Request;
  /** The decoded path parameter with this name. */
  parameter(name: string): string;
  readonly query: URLSearchParams;
}

/**
 * One method of one path: its input, its responses and its handler. The routes, the refusals of other methods, the
 * OpenAPI document and its page are generated from these.
 */
export interface Endpoint {
  /** The operation's unique name. */
  readonly id: string;
  readonly method: "GET" | "POST";
  /** Below the base path; `{name}` is a parameter. */
  readonly path: string;
  readonly group: Group;
  /** A few words. */
  readonly summary: string;
  readonly description?: string;
  /** Needs no API key. */
  readonly open?: true;
  /** The query parameters by name. */
  readonly query?: Readonly<Record<string, QueryParameter>>;
  readonly body?: z.ZodType;
  /** The shape of a 200's JSON, or another kind of content. */
  readonly answer: z.ZodType | Media | Redirect;
  /** The codes of its refusals, besides those that any request may get. */
  readonly refusals: readonly ServiceCode[];
  /** A `Response` as the value is sent unchanged, anything else as JSON. */
  handle(operations: Operations, asked: Asked): Result<unknown> | Promise<Result<unknown>>;
}

/** A response that is not JSON of a shape. */
export interface Media {
  readonly media: string;
  readonly description: string;
}

/** A 302 instead of a 200. */
export interface Redirect {
  /** The place that it leads to, as a sentence without a full stop. */
  readonly redirects: string;
}

/** The groups of endpoints in the API's description. */
export const groups = ["Runs", "Catalog", "Factories", "Sessions", "This description"] as const;
export type Group = (typeof groups)[number];
