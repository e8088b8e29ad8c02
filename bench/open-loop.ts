/** Sends requests at fixed times, whether or not the earlier ones were answered. */
import { Agent, request } from "node:http";

export interface Shot {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** So long before its time a shot is waited for without sleeping, since timers are late. */
const watchMs = 3;

/** Keeps its connections from one volley to the next, as Slack and GitHub do. */
export function createGun(url: string) {
  const agent = new Agent({ keepAlive: true });

  /** Resolves with the milliseconds from `dueAt` to the end of the answer; rejects unless it is a 200. */
  const shoot = ({ path, headers, body }: Shot, dueAt: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(body);
      const sent = request(
        `${url}${path}`,
        { method: "POST", agent, headers: { ...headers, "content-length": bytes.length } },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (more: string) => (text += more));
          response.once("error", reject);
          response.once("end", () => {
            if (response.statusCode === 200) resolve(performance.now() - dueAt);
            else reject(new Error(`${url}${path} answered ${response.statusCode}: ${text}`));
          });
        },
      );
      sent.once("error", reject);
      sent.end(bytes);
    });

  return {
    /** Milliseconds from when each request was due to its whole answer. Rejects if one was not answered 200. */
    async volley(shots: readonly Shot[], perSecond: number): Promise<readonly number[]> {
      const begin = performance.now() + 50;
      const answers: Promise<number>[] = [];
      for (const [index, shot] of shots.entries()) {
        const dueAt = begin + (index * 1000) / perSecond;
        await until(dueAt);
        const answer = shoot(shot, dueAt);
        // Awaited at the end; until then a failure must not count as one that nobody waits for.
        answer.catch(() => {});
        answers.push(answer);
      }
      return Promise.all(answers);
    },
    close: () => agent.destroy(),
  };
}

async function until(time: number): Promise<void> {
  const sleepMs = time - performance.now() - watchMs;
  if (sleepMs > 0) await new Promise((resolve) => setTimeout(resolve, sleepMs));
  while (performance.now() < time) await new Promise((resolve) => setImmediate(resolve));
}
