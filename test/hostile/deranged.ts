/** Payloads of almost the right shape. */
import fc from "fast-check";

type Json = Readonly<Record<string, unknown>>;

/** Values that often break readers of JSON. */
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1e308, "", " ", "\0", "\ud800", [], {}, [[]], [null]),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "99999999999999999999.1",
    "-1.0",
    "1.1:2:3",
  ),
  fc.constantFrom(
    "a/b/c",
    "../..",
    "octo/../..",
    "octo/app?x=1#y",
    "%00",
    "@",
    "<!channel>",
    "x".repeat(5_000),
  ),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.double({ noNaN: true }),
  fc.jsonValue({ maxDepth: 3 }),
);

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

const pathsOf = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  isObject(value)
    ? [
        ...(path.length > 0 ? [path] : []),
        ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key])),
      ]
    : [path];

function changed(value: unknown, [key, ...rest]: readonly string[], put: { value: unknown } | null): unknown {
  if (key === undefined || !isObject(value)) return value;
  const copy: Record<string, unknown> = { ...value };
  if (rest.length > 0) copy[key] = changed(copy[key], rest, put);
  else if (put === null) delete copy[key];
  else copy[key] = put.value;
  return Array.isArray(value) ? Object.values(copy) : copy;
}

/** The payload with one to three fields missing, added, of another type or with an odd value. */
export const deranged = (payload: Json): fc.Arbitrary<Json> => {
  const paths = pathsOf(payload);
  const one = fc.record({
    path: fc.constantFrom(...paths),
    put: fc.oneof(
      fc.constant(null),
      odd.map((value) => ({ value })),
    ),
    extra: fc.option(fc.tuple(fc.string({ maxLength: 8 }), odd), { freq: 5 }),
  });
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce<Json>((value, { path, put, extra }) => {
      const next = changed(value, path, put);
      if (!isObject(next)) return value;
      return extra === null ? next : { ...next, [extra[0]]: extra[1] };
    }, payload),
  );
};

export const deepJson = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
export const deepObject = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

/** Bodies that are not a payload. */
export const brokenBodies: readonly string[] = [
  "{",
  '{"a":',
  "nonsense",
  "\0",
  "\ufeff{}",
  "payload=",
  "payload=%7B",
  "payload=null",
  "payload=%",
  "%%%=%%&&&",
  '"text"',
  "NaN",
  `{"type":"event_callback","event":${deepJson(10_000)}}`,
  deepJson(10_000),
  deepObject(10_000),
  '{"__proto__":{"type":"event_callback"}}',
  '{"type":"url_verification"}',
  '{"type":"event_callback","event":null}',
];
