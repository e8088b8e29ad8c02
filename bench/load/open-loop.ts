/** Sends requests at fixed times, whether or not the earlier ones were answered; or a given number at once. */
import { Agent, request } from "node:http";

export interface Shot {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Timers are late, so the last milliseconds before a request are waited without a timer. */
const watchMs = 3;
/** Idle connections are closed before the server closes them, after five seconds. */
const idleMs = 3_000;

/**
 * Milliseconds from when each request was due to its whole answer; connections are kept from one to the next.
 * Rejects if one was not answered with 200.
 */
export async function volley(
  url: string,
  shots: readonly Shot[],
  perSecond: number,
): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  const begin = performance.now() + 50;
  const answers: Promise<number>[] = [];
  for (const [index, shot] of shots.entries()) {
    const dueAt = begin + (index * 1000) / perSecond;
    await until(dueAt);
    const answer = send(`${url}${shot.path}`, shot, agent).then(() => performance.now() - dueAt);
    // Awaited at the end; until then a failure must not count as an unhandled rejection.
    answer.catch(() => {});
    answers.push(answer);
  }
  try {
    return await Promise.all(answers);
  } finally {
    // A connection that is idle until the next round may be closed just when it is used again.
    agent.destroy();
  }
}

/** Sends the requests, `atOnce` of them under way. Rejects if one was not answered with 200. */
export async function burst(url: string, shots: readonly Shot[], atOnce: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, timeout: idleMs });
  const left = [...shots].reverse();
  const sendAll = async (): Promise<void> => {
    for (let shot = left.pop(); shot !== undefined; shot = left.pop()) {
      await send(`${url}${shot.path}`, shot, agent);
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, sendAll));
  } finally {
    agent.destroy();
  }
}

function send(url: string, { headers, body }: Shot, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const sent = request(
      url,
      { method: "POST", agent, headers: { ...headers, "content-length": bytes.length } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (more: string) => (text += more));
        response.once("error", reject);
        response.once("end", () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`${url} answered ${response.statusCode}: ${text}`));
        });
      },
    );
    sent.once("error", reject);
    sent.end(bytes);
  });
}

async function until(time: number): Promise<void> {
  const sleepMs = time - performance.now() - watchMs;
  if (sleepMs > 0) await new Promise((resolve) => setTimeout(resolve, sleepMs));
  while (performance.now() < time) await new Promise((resolve) => setImmediate(resolve));
}
