import type { z } from "zod";
import { type Refusal, type Result, refused } from "./problem.ts";

/** Room for any prompt that makes sense, and some attachments. */
export const mostBodyBytes = 10_000_000;

/**
 * The JSON body as `schema` wants it, whatever its content type says: what is no JSON is found out anyway, and
 * curl calls JSON a form unless it is told. Refused while it arrives once it exceeds `mostBytes`.
 */
export async function readBody<T>(
  request: Request,
  schema: z.ZodType<T>,
  mostBytes: number,
): Promise<Result<T>> {
  const coding = request.headers.get("content-encoding") || "identity";
  if (coding.toLowerCase() !== "identity") {
    const detail = "Content-Encoding: the body is taken as it is only, not compressed.";
    return { ok: false, refusal: { code: "invalid_request", detail, status: 415 } };
  }
  let bytes: Uint8Array | null;
  try {
    bytes = await readBytes(request, mostBytes);
  } catch {
    return refused("invalid_request", "The body did not arrive whole.");
  }
  if (bytes === null) return { ok: false, refusal: tooLarge(mostBytes) };
  if (bytes.length === 0) return refused("invalid_request", "The body is empty; a JSON object is expected.");
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : "it is not UTF-8";
    return refused("invalid_request", `The body is not JSON: ${why}.`);
  }
  if (isDeeper(value, mostLevels)) {
    return refused("invalid_request", `The body is nested more than ${mostLevels} levels deep.`);
  }
  const parsed = schema.safeParse(value, { error: inWords });
  return parsed.success
    ? { ok: true, value: parsed.data }
    : refused("invalid_request", faults(parsed.error.issues));
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** JSON can be read deeper than it can be written; a run that can't be written would spoil every list it is in. */
const mostLevels = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}

/** For people, what a schema itself says nothing about. */
function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return "it is required";
  if (issue.code === "too_small" && issue.origin === "string") return "it is empty";
  return undefined;
}

const mostFaults = 5;

/** Names each field that is wrong, and what about it is. */
export const faults = (issues: readonly z.core.$ZodIssue[]): string =>
  issues
    .slice(0, mostFaults)
    .map((issue) => {
      const what = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
      return `${issue.path.length === 0 ? "the body" : issue.path.join(".")}: ${what}`;
    })
    .join("; ");

const tooLarge = (mostBytes: number): Refusal => ({
  code: "invalid_request",
  detail: `The body has more than ${mostBytes} bytes.`,
  status: 413,
  // The rest of the body is not read, so the connection can't be used again.
  headers: { connection: "close" },
});

async function readBytes(request: Request, mostBytes: number): Promise<Uint8Array | null> {
  const announced = request.headers.get("content-length");
  if (Number(announced ?? 0) > mostBytes) return null;
  // Node sees to it that no more arrives than was announced, and reads that much faster.
  if (announced !== null) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body) {
    size += chunk.length;
    if (size > mostBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
