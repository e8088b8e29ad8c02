import { onTestFinished } from "vitest";
import { readEvents } from "#sandbox/demo/server-events.ts";
import type { GitHubState, SlackState } from "#sandbox/shown/page-state.ts";

export interface SeenPage {
  /** Resolves once the newest state satisfies the condition, within the test's own time limit. */
  until(
    isSo: (seen: { slack: SlackState; github: GitHubState }) => boolean,
  ): Promise<{ slack: SlackState; github: GitHubState }>;
  /** Names of the events so far. */
  readonly events: readonly string[];
  /** Resolves when the stream ends or breaks off. */
  readonly ended: Promise<void>;
}

/** Listens as the page does, until the test ends. */
export async function seePage(url: string): Promise<SeenPage> {
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const response = await fetch(`${url}/sandbox/events`, { signal: leaving.signal });
  if (!response.ok || response.body === null) throw new Error(`events: ${response.status}`);
  const events: string[] = [];
  const waiting = new Set<() => void>();
  let slack: SlackState | null = null;
  let github: GitHubState | null = null;
  const reading = readEvents(response.body, (name, data) => {
    events.push(name);
    if (name === "slack") slack = JSON.parse(data);
    if (name === "github") github = JSON.parse(data);
    for (const look of [...waiting]) look();
  });
  return {
    events,
    ended: reading.catch(() => undefined),
    until(isSo) {
      const found = Promise.withResolvers<{ slack: SlackState; github: GitHubState }>();
      const look = (): void => {
        if (slack === null || github === null || !isSo({ slack, github })) return;
        waiting.delete(look);
        found.resolve({ slack, github });
      };
      waiting.add(look);
      look();
      return found.promise;
    },
  };
}
