import { InvalidRequestError } from "../errors.ts";
import type { CallOptions } from "./try-options.ts";

/** Returns the headers with those of the call. Throws `InvalidRequestError`, whose text has no header's value. */
export function requestHeaders(
  own: Readonly<Record<string, string>>,
  ofCall: CallOptions["headers"] = {},
): Headers {
  const headers = new Headers(own);
  for (const [name, value] of Object.entries(ofCall)) {
    try {
      if (value === null) headers.delete(name);
      else headers.set(name, value);
    } catch {
      throw new InvalidRequestError("A header's name or value is not possible in a request.", ["headers"]);
    }
  }
  return headers;
}
