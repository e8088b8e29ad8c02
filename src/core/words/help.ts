import type { View } from "#core/view.ts";
import { plain, rich } from "./parts.ts";

/** Returns the reply to `help`. `usage` has the platform's sentences on giving commands there. */
export const helpView = (usage: readonly string[]): View =>
  plain(
    "plain",
    [{ strong: "What I can do" }],
    [
      ...usage,
      "`run <prompt>` starts a run. Flags come before the prompt:",
      "`--model --env --name --title --skill --factory --mcp`",
      "`status [run]` shows the state of a run, `list` the latest runs here",
      "`cancel [run]` stops a run, `retry` starts the last one again",
      "`attach <run>` follows a run that was started elsewhere",
      "`mute` keeps replies without a mention from the agent, `unmute` sends them again",
      "A reply where a run is active goes to the agent, unless it begins with `!aside`",
    ].map(rich),
  );
