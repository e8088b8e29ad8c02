import type { ListQuery } from "./schema.ts";

/**
 * The query string of `GET /agent/runs`, without the question mark: a list repeats its name, a map is
 * written `metadata[key]=value`, what is undefined is left out.
 */
export function listQuery(query: ListQuery): string {
  const search = new URLSearchParams();
  const { state = [], metadata = {}, ...plain } = query;
  for (const [name, value] of Object.entries(plain)) {
    if (value !== undefined) search.append(name, String(value));
  }
  for (const each of state) search.append("state", each);
  for (const [key, value] of Object.entries(metadata)) search.append(`metadata[${key}]`, value);
  return search.toString();
}
