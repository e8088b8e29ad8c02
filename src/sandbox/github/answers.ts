/** Errors and pages, as all routes of the stand-in's REST API return them. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Caller } from "./access.ts";

/** The caller, as Hono hands it to the routes. */
export type Env = { Variables: { caller: Caller } };

/** An unsuccessful answer; routes throw it, and `onError` writes it. */
export class ApiError extends Error {
  readonly status: ContentfulStatusCode;
  readonly errors: readonly object[] | undefined;

  constructor(status: ContentfulStatusCode, message: string, errors?: readonly object[]) {
    super(message);
    this.status = status;
    this.errors = errors;
  }
}

/** An answer that names another address; routes throw it. */
export class Moved extends Error {
  /** The path of the new address. */
  readonly path: string;

  constructor(path: string) {
    super("Moved Permanently");
    this.path = path;
  }
}

/** The error for something that does not exist, or that the caller may not see. */
export const notFound = (): ApiError => new ApiError(404, "Not Found");

/** The value; throws `notFound` if there is none. */
export function found<T>(value: T | undefined): T {
  if (value === undefined) throw notFound();
  return value;
}

/** The size of a page, as the request asks for it. */
export const sizeOf = (c: Context<Env>): number =>
  Math.min(100, Math.max(1, Number(c.req.query("per_page") ?? 30) || 30));

/** A part of a Link header: the request's own address with one parameter changed. */
export function linkTo(c: Context<Env>, rel: string, parameter: string, value: string): string {
  const url = new URL(c.req.url);
  url.searchParams.set(parameter, value);
  return `<${url}>; rel="${rel}"`;
}

/** One page of `items`, with GitHub's Link header. */
export function page<T>(c: Context<Env>, items: readonly T[]): readonly T[] {
  const size = sizeOf(c);
  const number = Math.max(1, Number(c.req.query("page") ?? 1) || 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const link = (target: number, rel: string): string => linkTo(c, rel, "page", String(target));
  const links = [
    ...(number > 1 ? [link(number - 1, "prev"), link(1, "first")] : []),
    ...(number < last ? [link(number + 1, "next"), link(last, "last")] : []),
  ];
  if (links.length > 0) c.header("link", links.join(", "));
  return items.slice((number - 1) * size, number * size);
}
