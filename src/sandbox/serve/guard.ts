/**
 * Other web sites that are open in the same browser must not act through the sandbox, which has no login.
 * A foreign page that sends here is known by its Origin; one that gave its own name our address (DNS
 * rebinding) by the Host.
 */

export interface GuardOptions {
  /** Addresses of ours that are not loopback, such as `https://agents.example.com`. */
  readonly addresses: readonly string[];
}

/** Largest body of an act, in bytes; no text that people type comes near it. */
const mostBytes = 256 * 1024;

const refusal = (status: number, error: string): Response =>
  Response.json({ ok: false, error }, { status, headers: { "cache-control": "no-store" } });

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" ||
  hostname.endsWith(".localhost") ||
  hostname === "[::1]" ||
  /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

const isOurs = (host: string, { addresses }: GuardOptions): boolean => {
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : null;
  if (url === null) return false;
  return isLoopback(url.hostname) || addresses.some((one) => URL.canParse(one) && new URL(one).host === host);
};

/** null: the request was meant for us. */
export function refuseForeignHost(request: Request, options: GuardOptions): Response | null {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  if (isOurs(host, options)) return null;
  return refusal(403, "The sandbox answers under its own address only; open it at http://127.0.0.1.");
}

/** null: no other web site is behind the request. Programs send neither header. */
export function refuseForeignOrigin(request: Request): Response | null {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  const host = request.headers.get("host") ?? new URL(request.url).host;
  const sameOrigin = origin === null || (URL.canParse(origin) && new URL(origin).host === host);
  const sameSite = site === null || site === "same-origin" || site === "none";
  if (sameOrigin && sameSite) return null;
  return refusal(403, "Another web site may not act in the sandbox.");
}

export type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly response: Response };

/** The body of an act: JSON, called so, which a form of another web site can't send unasked. */
export async function readJson(request: Request): Promise<Body> {
  const type = (request.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    return { ok: false, response: refusal(415, "Send the body as application/json.") };
  }
  if (Number(request.headers.get("content-length") ?? 0) > mostBytes)
    return { ok: false, response: tooLong() };
  const bytes = await readAtMost(request, mostBytes);
  if (bytes === null) return { ok: false, response: tooLong() };
  try {
    return { ok: true, value: JSON.parse(bytes.toString("utf8")) };
  } catch {
    return { ok: false, response: refusal(400, "The body is not JSON.") };
  }
}

const tooLong = (): Response => refusal(413, "That is too long.");

async function readAtMost(request: Request, most: number): Promise<Buffer | null> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of request.body ?? []) {
    length += part.byteLength;
    if (length > most) return null;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
