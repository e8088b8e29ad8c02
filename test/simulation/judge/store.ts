/** Judges the stored threads, and the order in which effects reached a place. */
import type { Outside } from "#test/simulation/world/outside.ts";

export function checkStore(outside: Outside): void {
  const { world, wrong } = outside;
  for (const thread of world.disk.threads.values()) {
    const whole: unknown = JSON.parse(JSON.stringify(thread));
    if (JSON.stringify(whole) !== JSON.stringify(thread)) wrong("the store is readable", thread.id);
    if (thread.effects.length > 0 || thread.waiting.length > 0) {
      wrong("the store holds nothing unsettled", `${thread.id}: ${thread.effects.map(({ id }) => id)}`);
    }
  }
  for (const platform of [world.slack, world.github]) {
    for (const [place, done] of platform.done) {
      // Several threads may post in a channel; a place belongs to one thread.
      if (!place.includes("#") && place.split(":").length < 4) continue;
      let last = 0;
      const seen = new Set<string>();
      for (const { effect, kind } of done) {
        // A command that was handed over is answered by the thread of its run.
        if (seen.has(effect) || kind === "tell" || kind === "react") continue;
        seen.add(effect);
        const number = Number(effect.slice(effect.lastIndexOf("/") + 1));
        if (number < last) wrong("a place's effects happen in order", `${effect} came after number ${last}`);
        last = Math.max(last, number);
      }
    }
  }
}
