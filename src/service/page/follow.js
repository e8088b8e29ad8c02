/** Talks to the service: follows the run's events, and sends follow-ups and cancellations. */
/** @import { SessionMessage } from "../sessions/session-message.ts" */

/** The service sends something at least every 15 s; a stream that is silent for this long is dead. */
const mostSilenceMs = 40_000;
const mostPauseMs = 30_000;
const postWithinMs = 30_000;

/** The pause in milliseconds after this many failed attempts in a row. @param {number} failures */
const backoffMs = (failures) =>
  Math.min(mostPauseMs, 1000 * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);

/**
 * Follows a run until it is gone or `stop` is called.
 * @param {object} options
 * @param {string} options.address
 * @param {string} options.key
 * @param {string} options.known Id of the last event that the page has.
 * @param {(message: SessionMessage) => void} options.onMessage
 * @param {(link: "live" | "lost" | "full" | "gone") => void} options.onLink
 * @param {() => number} options.restMs 0 keeps the connection; otherwise it is closed after its first message,
 *   for so long.
 * @param {(failures: number) => number} [options.pauseMs]
 */
export function follow({ address, key, known, onMessage, onLink, restMs, pauseMs = backoffMs }) {
  let isOver = false;
  let lastId = known;
  let failures = 0;
  let connection = new AbortController();
  let wake = () => {};

  /** @param {number} ms */
  const sleep = (ms) =>
    new Promise((resolve) => {
      const timer = Number.isFinite(ms) ? setTimeout(resolve, ms) : undefined;
      wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
    });

  /** Resolves with the pause before the next connection, in milliseconds; null: there is to be none. */
  async function connect() {
    connection = new AbortController();
    const { signal } = connection;
    const headers = { "x-session-key": key, ...(lastId === "" ? {} : { "last-event-id": lastId }) };
    const watchdog = silenceWatch(connection);
    try {
      const response = await fetch(address, { headers, signal, cache: "no-store" });
      if (response.status === 404) return null;
      if (!response.ok || response.body === null) {
        void response.body?.cancel();
        onLink(response.status === 429 ? "full" : "lost");
        return Math.max(pauseMs(++failures), Number(response.headers.get("retry-after") ?? 0) * 1000 || 0);
      }
      for await (const { id, data } of eventsOf(response.body, watchdog.heard)) {
        try {
          onMessage(JSON.parse(data));
        } catch (error) {
          // The page may be wrong now: the next connection sends everything again.
          lastId = "";
          throw error;
        }
        lastId = id;
        failures = 0;
        onLink("live");
        if (restMs() > 0) return restMs();
      }
    } catch {
      // The network failed or `restart` was called: connect again.
    } finally {
      watchdog.end();
      connection.abort();
    }
    if (isOver) return null;
    if (signal.reason === again) return restMs();
    onLink("lost");
    return pauseMs(++failures);
  }

  async function run() {
    while (!isOver) {
      const pause = await connect();
      if (pause === null) break;
      if (!isOver && pause > 0) await sleep(pause);
    }
    if (!isOver) onLink("gone");
  }

  void run();
  return {
    /** Reconnects; the new stream starts with everything that may have changed since the last event. */
    restart() {
      connection.abort(again);
      wake();
    },
    stop() {
      isOver = true;
      connection.abort();
      wake();
    },
  };
}

const again = "begin again";

/** @param {AbortController} connection */
function silenceWatch(connection) {
  const late = () => connection.abort();
  let timer = setTimeout(late, mostSilenceMs);
  return {
    heard() {
      clearTimeout(timer);
      timer = setTimeout(late, mostSilenceMs);
    },
    end: () => clearTimeout(timer),
  };
}

/**
 * The events of a stream, each with one line of data, as this service sends them.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} body
 * @param {() => void} heard Called whenever bytes arrive, heartbeats included.
 */
async function* eventsOf(body, heard) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    heard();
    rest += decoder.decode(value, { stream: true });
    const frames = rest.split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const lines = frame.split("\n");
      const field = (/** @type {string} */ name) =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) yield { id: field("id") ?? "", data };
    }
  }
}

/**
 * Sends a POST once. `unknown`: it may have been done or not.
 * @param {string} address @param {string} key @param {object} [body]
 * @returns {Promise<{ kind: "done" } | { kind: "refused", why: string } | { kind: "unknown" }>}
 */
export async function post(address, key, body) {
  try {
    const response = await fetch(address, {
      method: "POST",
      headers: { "x-session-key": key, "content-type": "application/json" },
      signal: AbortSignal.timeout(postWithinMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.ok) return { kind: "done" };
    const problem = await response.json();
    const isOurs = typeof problem.detail === "string" && typeof problem.type === "string";
    if (!isOurs || problem.type.endsWith("/internal_error")) return { kind: "unknown" };
    return { kind: "refused", why: problem.detail };
  } catch {
    return { kind: "unknown" };
  }
}
