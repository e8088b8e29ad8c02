/** The results of people's actions and their times, named so that two histories can be compared. */
import { dispatchKey } from "#core/run.ts";
import { headline } from "#test/simulation/world/chat.ts";
import type { Deed } from "#test/simulation/world/deliveries.ts";
import { episodeLink } from "#test/simulation/world/service/simulated-run.ts";
import type { World } from "#test/simulation/world/world.ts";

/**
 * `direct`: the result of an action. `swept`: the result of a sweep, whose time depends on all runs. The name
 * begins with its platform.
 */
export type Milestone = `${"slack" | "github"} ${"direct" | "swept"} ${string}`;

export function milestones(world: World, deeds: readonly Deed[]): ReadonlyMap<Milestone, number> {
  const found = new Map<Milestone, number>();
  const add = (name: Milestone, at: number): void => {
    found.set(name, Math.min(at, found.get(name) ?? Number.POSITIVE_INFINITY));
  };
  const startMs = world.machine.time.startMs;
  const ends = new Map<string, string>();
  for (const run of world.service.runs.values()) {
    const dispatch = run.words[0]?.run.metadata?.[dispatchKey] ?? "";
    const platform = dispatch.startsWith("slack:") ? "slack" : "github";
    for (const [index] of run.episodes.entries()) {
      ends.set(`"${episodeLink(run.id, index + 1)}"`, `${dispatch}, end ${index + 1}`);
    }
    add(`${platform} direct run of ${dispatch}`, (run.words[0]?.at ?? 0) - startMs);
    for (const { role, text, writtenAt } of run.conversation) {
      const token = deeds.find((deed) => deed.token !== null && text.includes(` ${deed.token} `))?.token;
      if (role !== "user" || token === undefined || text.startsWith("do ") === false) continue;
      add(`${platform} direct ${token} for ${dispatch}`, writtenAt - startMs);
    }
  }
  for (const { name, posted } of [world.slack, world.github]) {
    for (const { kind, dispatch, effect, view, at } of posted) {
      if (kind === "card") add(`${name} direct card of ${dispatch}`, at - startMs);
      else if (kind === "tell") {
        const deed = deeds.find(({ event }) => effect.startsWith(`${event.id}/`));
        add(`${name} direct answer to ${deed?.verb} ${deed?.event.id}`, at - startMs);
      } else {
        const details = JSON.stringify(view.details);
        const end = [...ends].find(([link]) => details.includes(link))?.[1] ?? `${effect} ${headline(view)}`;
        add(`${name} swept ${end}`, at - startMs);
      }
    }
  }
  return found;
}
