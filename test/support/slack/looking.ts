import type { PlatformEvent } from "#core/event.ts";
import type { Missed } from "#ports.ts";
import type { World } from "./world.ts";

/** Searches for missed events as the engine does: each search gets what the last one kept. */
export function looking(
  world: World,
  {
    since = 0,
    kept = null,
    ...more
  }: Partial<Omit<Missed, "since" | "keep">> & { readonly since?: number } = {},
) {
  let text: string | null = kept;
  let waitMs: number | undefined;
  let platform = world.platform;
  const look = async (): Promise<readonly PlatformEvent[]> => {
    const keep = (newer: string, moreInMs?: number): void => {
      if (look.keeps) text = newer;
      waitMs = moreInMs;
    };
    const missed: Missed = {
      since: new Date(since).toISOString(),
      places: [],
      scopes: [],
      ...more,
      kept: text,
      keep,
    };
    return (await platform.missed?.(missed)) ?? [];
  };
  look.keeps = true;
  look.kept = (): string | null => text;
  look.moreInMs = (): number | undefined => waitMs;
  /** Searches as after a restart, when the next round may begin at once. */
  look.later = (): Promise<readonly PlatformEvent[]> => {
    platform = world.restarted();
    return look();
  };
  return look;
}

/** Returns the events' texts. */
export const textsOf = (events: readonly PlatformEvent[]): readonly string[] =>
  events.map((event) => (event.kind === "reply" ? event.text : ""));
