import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { afterAll, expect, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type Conversation,
  conversation,
  createResponse,
  listResponse,
  type Problem,
  problem,
  type RunItem,
  runItem,
} from "#agent-runs/schema.ts";
import { createService, type Service, type ServiceOptions } from "#service/service.ts";
import { eventually } from "#test/support/eventually.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { type LogLine, recordingLog } from "#test/support/logs.ts";

export const apiKey = "key-of-the-tests";

export interface Serving {
  readonly service: Service;
  readonly folder: string;
  readonly lines: readonly LogLine[];
  readonly api: Api;
  stop(): Promise<void>;
}

type ServingOptions = Partial<ServiceOptions> & { readonly folder?: string; readonly port?: number };

/** A running service on `port` or a free one, in `folder` or a fresh one. It is stopped after the test. */
export async function serving(options: ServingOptions = {}): Promise<Serving> {
  const started = await startServing(options, options.folder ?? (await freshFolder()));
  onTestFinished(started.stop);
  return started;
}

/** A service for all tests of the file that calls this at its top. */
export async function servingAll(options: ServingOptions = {}): Promise<Serving> {
  const folder = await mkdtemp(join(tmpdir(), "agent-runs-bot-"));
  const started = await startServing(options, folder);
  afterAll(async () => {
    await started.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return started;
}

async function startServing(options: ServingOptions, folder: string): Promise<Serving> {
  const { log, lines } = recordingLog();
  let address = "";
  const service = createService({
    dataDir: folder,
    workDir: join(folder, "work"),
    apiKey,
    publicUrl: () => address,
    environment: { PATH: process.env.PATH },
    maxRuns: 4,
    timeoutMs: 30_000,
    graceMs: 500,
    demoStepMs: 40,
    log,
    ...options,
  });
  await service.start();
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const it = serve(
      { fetch: (request) => service.fetch(request), hostname: "127.0.0.1", port: options.port ?? 0 },
      (info) => {
        address = `http://127.0.0.1:${info.port}`;
        resolve(it);
      },
    );
  });
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    await service.stop();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      if ("closeAllConnections" in server) server.closeAllConnections();
    });
  };
  return { service, folder, lines, api: apiAt(address), stop };
}

export type Api = ReturnType<typeof apiAt>;

/** A small client that checks each response against the contract. */
export function apiAt(address: string, key = apiKey) {
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(`${address}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  const good = async <T>(answer: Promise<Response>, schema: z.ZodType<T>): Promise<T> => {
    const response = await answer;
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
    return schema.parse(JSON.parse(text));
  };
  const run = (id: string): Promise<RunItem> => good(send("GET", `/agent/runs/${id}`), runItem);
  const talk = (id: string): Promise<Conversation> =>
    good(send("GET", `/agent/runs/${id}/conversation`), conversation);
  return {
    address,
    send,
    run,
    talk,
    create: async (body: unknown): Promise<string> =>
      (await good(send("POST", "/agent/run", body), createResponse)).run_id,
    list: (query: string) => good(send("GET", `/agent/runs?${query}`), listResponse),
    followUp: (id: string, message: string) =>
      good(send("POST", `/agent/runs/${id}/followups`, { message }), z.strictObject({})),
    cancel: (id: string) => good(send("POST", `/agent/runs/${id}/cancel`), z.string()),
    /** Resolves when the run is in one of the states. */
    until: (id: string, ...states: string[]): Promise<RunItem> =>
      eventually(`run ${id} in ${states.join(" or ")}`, async () => {
        const found = await run(id);
        return states.includes(found.state) && found;
      }),
    /** The texts of the run's conversation as `role: text`. */
    said: async (id: string): Promise<string[]> =>
      (await talk(id)).steps.flatMap((step) =>
        step.messages.map(({ role, content }) => `${role}: ${content.map((block) => block.text).join("")}`),
      ),
  };
}

export async function problemOf(answer: Promise<Response>): Promise<Problem & { readonly http: number }> {
  const response = await answer;
  if (response.headers.get("content-type") !== "application/problem+json") {
    throw new Error(`no problem document: ${response.status} ${await response.text()}`);
  }
  return { ...problem.parse(await response.json()), http: response.status };
}

/** The problem of a request that can't be read, as `problemOf` returns it. */
export const invalid = { http: 400, type: expect.stringMatching(/\/invalid_request$/), retryable: false };
