import type { View } from "#core/view.ts";
import { plain } from "./parts.ts";

/** The answer to `help`: every command. */
export const helpView: View = plain(
  "plain",
  [{ strong: "What I can do" }],
  [
    [{ code: "run <prompt>" }, " starts a run. Flags come before the prompt:"],
    [{ code: "--model --env --name --title --skill --factory --mcp" }],
    [{ code: "status [run]" }, " shows the state of a run, ", { code: "list" }, " the latest runs here"],
    [{ code: "cancel [run]" }, " stops a run, ", { code: "retry" }, " starts the last one again"],
    [{ code: "attach <run>" }, " follows a run that was started elsewhere"],
    [
      { code: "mute" },
      " keeps replies without a mention from the agent, ",
      { code: "unmute" },
      " sends them again",
    ],
    ["A reply where a run is active goes to the agent, unless it begins with ", { code: "!aside" }, "."],
  ],
);
