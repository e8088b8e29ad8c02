/** One value, several under the same name, or a map that is written `name[key]=value`. */
export type QueryValue =
  | string
  | number
  | boolean
  | undefined
  | readonly string[]
  | Readonly<Record<string, string>>;

/** A query string without the question mark; undefined values are left out. */
export function encodeQuery(query: Readonly<Record<string, QueryValue>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    if (typeof value !== "object") search.append(name, String(value));
    else if (isList(value)) for (const each of value) search.append(name, each);
    else for (const [key, each] of Object.entries(value)) search.append(`${name}[${key}]`, each);
  }
  return search.toString();
}

/** `Array.isArray` does not tell a read-only list from a map. */
const isList = (value: readonly string[] | Readonly<Record<string, string>>): value is readonly string[] =>
  Array.isArray(value);
