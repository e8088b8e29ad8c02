import { mention } from "#test/support/core/story.ts";
import type { StandInApi } from "#test/support/engine/stand-in-api.ts";
import { wholeEngine } from "#test/support/engine/whole-engine.ts";

/** An engine with the real core, and a dispatch whose run is in this state. */
export async function started(state: string, change: (api: StandInApi) => void = () => {}) {
  const made = wholeEngine();
  const { clock, api, slack, engine } = made;
  for (const run of ["run-1", "run-2"]) api.conversations.set(run, [{ role: "assistant", text: "Done." }]);
  change(api);
  await engine.start();
  await engine.accept(mention("fix it"));
  await clock.advance(2_000);
  api.turn("run-1", state);
  await clock.advance(5_000);
  const replies = () =>
    slack.tries.flatMap(({ effect }) => (effect.kind === "reply" ? [JSON.stringify(effect.view)] : []));
  return { ...made, replies, told: () => replies().length };
}
