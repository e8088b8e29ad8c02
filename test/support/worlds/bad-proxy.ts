/** An HTTP proxy before a stand-in: it loses answers of writes and shows reads late. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { listen } from "#test/support/listen.ts";
import type { LostAnswers } from "./bad-world.ts";

/** One request as it arrived; `body` is text. */
export interface Passing {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

/** What one system's proxy does. */
export interface Behaviour {
  /** The fault of this write; undefined: it is a read, or has none. */
  faultOf(passing: Passing): LostAnswers | undefined;
  /** Changes the request before it is passed on. */
  ask?(url: URL): void;
  /** Changes the JSON of a successful answer; `status` replaces the status. */
  show?(passing: Passing, json: unknown): { readonly json: unknown; readonly status?: number };
  /** The time that the system gives, in milliseconds since the epoch; our own if absent. */
  now?(): number;
}

/** A running proxy. */
export interface BadProxy {
  readonly url: string;
  /** Number of writes whose answer was lost. */
  lost(): number;
  close(): Promise<void>;
}

const notPassedOn = new Set(["host", "connection", "content-length", "transfer-encoding", "expect"]);
const notReturned = new Set([
  "connection",
  "content-length",
  "transfer-encoding",
  "content-encoding",
  "date",
]);

/** Starts a proxy before `target()`; `random` returns 0 to 1. */
export async function startBadProxy(
  target: () => string,
  behaviour: Behaviour,
  random: () => number,
): Promise<BadProxy> {
  let lost = 0;

  async function pass(passing: Passing, headers: Headers): Promise<Response> {
    const { url, method, body } = passing;
    const to = new URL(url);
    behaviour.ask?.(to);
    const init = method === "GET" || method === "HEAD" ? {} : { body };
    return fetch(`${target()}${to.pathname}${to.search}`, { method, headers, redirect: "manual", ...init });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? "/", "http://proxy.test");
    const passing = { method: request.method ?? "GET", url, body: Buffer.concat(chunks).toString() };
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (!notPassedOn.has(name) && value !== undefined) headers.set(name, String(value));
    }
    const fault = behaviour.faultOf(passing);
    const drawn = random();
    const { cut = 0, unavailable = 0, late = 0, lateMs = 0, limited = 0 } = fault ?? {};
    if (drawn < limited) {
      response.writeHead(429, { "retry-after": "1", "content-type": "application/json" });
      response.end(JSON.stringify({ ok: false, error: "ratelimited", retryable: true, status: 429 }));
      return;
    }
    if (drawn < limited + late) {
      lost += 1;
      request.socket.destroy();
      await delay(lateMs);
      await pass(passing, headers);
      return;
    }
    const passed = await pass(passing, headers);
    const text = await passed.text();
    if (drawn < limited + late + cut) {
      lost += 1;
      request.socket.destroy();
      return;
    }
    const isLost = drawn < limited + late + cut + unavailable;
    if (isLost) lost += 1;
    const shown = isLost ? { status: 503, text: "" } : show(passing, passed, text);
    const returned: Record<string, string> = {
      date: new Date(behaviour.now?.() ?? Date.now()).toUTCString(),
    };
    for (const [name, value] of passed.headers) if (!notReturned.has(name)) returned[name] = value;
    response.writeHead(shown.status, returned).end(shown.text);
  }

  function show(passing: Passing, passed: Response, text: string): { status: number; text: string } {
    const isJson = passed.ok && (passed.headers.get("content-type") ?? "").includes("json") && text !== "";
    if (!isJson || behaviour.show === undefined) return { status: passed.status, text };
    const { json, status = passed.status } = behaviour.show(passing, JSON.parse(text));
    return { status, text: JSON.stringify(json) };
  }

  const { url, close } = await listen(
    createServer((request, response) => {
      answer(request, response).catch(() => request.socket.destroy());
    }),
  );
  return { url, lost: () => lost, close };
}
