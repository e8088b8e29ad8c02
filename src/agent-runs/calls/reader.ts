import type { z } from "zod";
import type { QueryValue } from "../http/query.ts";
import { asJson, checkRequest } from "../http/read-answer.ts";
import type { Reply } from "../http/reply.ts";
import type { Send } from "../http/transport.ts";
import type { CallOptions } from "../http/try-options.ts";

/** A call that reads one endpoint with a query, which `rules` check. */
export function readerOf<T, Q extends Readonly<Record<string, QueryValue>>>(
  send: Send,
  path: readonly string[],
  answer: z.ZodType<T>,
  rules: z.ZodType<Q>,
) {
  const reading = asJson(answer);
  return async (query?: Readonly<Q>, options?: CallOptions): Promise<Reply<T>> => {
    if (query !== undefined) checkRequest(rules, query, "The query is invalid");
    return send({ method: "GET", path, query, repeat: "read" }, reading, options);
  };
}
