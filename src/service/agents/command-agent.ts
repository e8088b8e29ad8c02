import type { Log } from "#base/log.ts";
import { faultOf, type RunProcess } from "#service/processes/run-process.ts";
import { createRedaction } from "#service/processes/secret-values.ts";
import { createTextTail, lastLines } from "#service/processes/text-tail.ts";
import type { Agent, TurnEnd } from "./agent.ts";
import { agentEnvironment } from "./agent-environment.ts";
import { createEventReader } from "./json-lines.ts";
import { callOf } from "./presets.ts";

/** The most characters of a failure's reason. */
const mostReason = 4_000;

/**
 * An agent that runs a command: input on stdin, answer on stdout, exit code 0 for success. `command`: the name of a
 * preset, or a line for the shell.
 */
export function createCommandAgent(
  command: string,
  environment: Readonly<Record<string, string | undefined>>,
  run: RunProcess,
  log: Log,
): Agent {
  return {
    async work(turn, signal, write): Promise<TurnEnd> {
      const call = await callOf(command, turn);
      const redact = createRedaction(turn.variables);
      const stderr = createTextTail(mostReason);
      const request = {
        runId: turn.runId,
        command: call.command,
        folder: turn.folder,
        environment: { ...agentEnvironment(environment, turn), ...call.environment },
        input: call.input,
      };
      const events = call.events === undefined ? null : createEventReader(call.events, write, redact);
      const end = await run(request, signal, { stdout: events?.add ?? write, stderr: stderr.add });
      const result = events?.end() ?? { answer: null, fault: null };
      if (end.kind === "aborted") return end;
      const answer = result.answer === null ? {} : { answer: result.answer };
      const fault = faultOf(end);
      if (fault === null && result.fault === null) return { kind: "finished", ...answer };
      if (end.kind === "unstarted") {
        log.error("the agent's command could not be started", { runId: turn.runId, error: end.error });
        return { kind: "broken", reason: "The agent's command could not be started." };
      }
      const failure = createTextTail(mostReason);
      // Redacted before it is cut, because half a secret would not be found.
      failure.add(redact(result.fault ?? ""));
      const words = failure.text().trim() || lastLines(stderr.text());
      const reason = fault === null ? "The agent failed" : `The agent's command ${fault}`;
      return { kind: "failed", reason: words === "" ? `${reason}.` : `${reason}: ${words}`, ...answer };
    },
  };
}
