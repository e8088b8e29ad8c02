/**
 * The sandbox has no login, so other web sites in the same browser must not act through it. Their requests are
 * recognised by Origin, or by Host if the site gave its own name our address (DNS rebinding).
 */

/** The largest body of an act, in bytes: far more than people type. */
const mostBytes = 256 * 1024;

/** Returns an error response with a sentence for people. */
export const refusal = (status: number, error: string): Response =>
  Response.json({ ok: false, error }, { status, headers: { "cache-control": "no-store" } });

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

const hostOf = (request: Request): string => request.headers.get("host") ?? new URL(request.url).host;

/**
 * The refusal of a request under a foreign name; null if it is addressed to us. `addresses` are ours besides
 * loopback, such as `https://agents.example.com`.
 */
export function refuseForeignHost(request: Request, addresses: readonly string[]): Response | null {
  const host = hostOf(request);
  const hostname = URL.parse(`http://${host}`)?.hostname;
  const isOurs =
    hostname !== undefined &&
    (isLoopback(hostname) || addresses.some((one) => URL.parse(one)?.host === host));
  if (isOurs) return null;
  return refusal(403, "The sandbox is only available under its own address; open it at http://127.0.0.1.");
}

/** The refusal of a request from another web site; null if there is none. Programs send neither header. */
export function refuseForeignOrigin(request: Request): Response | null {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const sameOrigin = origin === null || URL.parse(origin)?.host === hostOf(request);
  const sameSite = site === null || site === "same-origin" || site === "none";
  if (sameOrigin && sameSite) return null;
  return refusal(403, "Another web site may not act in the sandbox.");
}

/** A parsed body, or the answer to an invalid one. */
export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly response: Response };

/** The JSON body of an act. Its content type is one that another site's form can't send. */
export async function readJson(request: Request): Promise<Body> {
  const invalid = (status: number, error: string): Body => ({ ok: false, response: refusal(status, error) });
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") return invalid(415, "Send the body as application/json.");
  const tooLong = (): Body => invalid(413, "That is too long.");
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes) return tooLong();
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.byteLength;
    if (length > mostBytes) return tooLong();
    parts.push(part);
  }
  try {
    return { ok: true, value: JSON.parse(Buffer.concat(parts).toString("utf8")) };
  } catch {
    return invalid(400, "The body is not JSON.");
  }
}
