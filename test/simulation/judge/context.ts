/** Judges that what was said in a place before a request reaches the agent with it, as quoted material. */
import type { Outside } from "#test/simulation/world/outside.ts";

export function checkContext({ deeds, runsOf, wrong }: Outside): void {
  for (const { event, saidAt = 0 } of deeds) {
    const prompt = runsOf.get(event.id)?.[0]?.request.prompt;
    const isFirst = event.kind === "reply" && event.first;
    if (prompt === undefined || event.place === null || isFirst) continue;
    // The bot tells the agent when it could not read the place.
    if (prompt.includes("messages are left out.)")) continue;
    for (const earlier of deeds) {
      const { token, intent, event: said } = earlier;
      if (token === null || intent === "nothing" || !("message" in said) || said.place !== event.place)
        continue;
      if ((earlier.saidAt ?? 0) >= saidAt || said.at >= event.at) continue;
      if (!prompt.includes(` ${token} `))
        wrong("a request comes with what was said before", `${event.id}: ${said.id}`);
    }
  }
}
