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
  let textWithout: ((events: readonly PlatformEvent[]) => string) | undefined;
  let platform = world.platform;
  const look = async (): Promise<readonly PlatformEvent[]> => {
    const keep: Missed["keep"] = (newer, moreInMs, without) => {
      if (look.keeps) text = newer;
      waitMs = moreInMs;
      textWithout = without;
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
  /** Notes that events of the last search came before their threads were saved. */
  look.early = (events: readonly PlatformEvent[]): void => {
    text = textWithout?.(events) ?? text;
  };
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
