import { randomUUID } from "node:crypto";
import { type Agent, answerOf, type TurnEnd } from "#service/agents/agent.ts";
import { factoryIn, isRepository } from "#service/catalog.ts";
import { artifactFiles } from "#service/files/artifact-files.ts";
import type { OutputLog } from "#service/files/output-log.ts";
import { skillText } from "#service/files/skill-text.ts";
import { makeWorkFiles, type WorkFiles } from "#service/files/work-files.ts";
import type { Workplaces } from "#service/files/workplaces.ts";
import type { WorkOptions } from "#service/options.ts";
import { createRedaction } from "#service/processes/secret-values.ts";
import { createTextTail, readable, type TextTail } from "#service/processes/text-tail.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import type { Findings, TurnOutcome } from "#service/run/run-life.ts";
import { turnInput } from "./turn-input.ts";

/** The folders and files of turns. */
export interface TurnWorkOptions extends Pick<WorkOptions, "catalog" | "attachments" | "folder" | "log"> {
  readonly workplaces: Workplaces;
  readonly outputs: OutputLog;
}

/** The control over one turn. */
export interface TurnContext {
  readonly signal: AbortSignal;
  /** After an abort: the reason if the time limit was the cause, else null. */
  readonly timeoutReason: () => string | null;
  /** Receives the agent's output as people may read it. */
  readonly output: TextTail;
}

/** The most characters of an answer that are kept, from its end. */
export const mostAnswer = 250_000;

/** Works on single turns. */
export type TurnWork = ReturnType<typeof createTurnWork>;

export function createTurnWork(options: TurnWorkOptions) {
  const { catalog, workplaces, attachments, outputs, folder, log } = options;

  const redactionFor = (run: Run): ((text: string) => string) =>
    createRedaction(workplaces.environmentOf(run)?.variables ?? {});

  async function runAgent(
    document: RunDocument,
    agent: Agent,
    files: WorkFiles,
    { signal, output }: TurnContext,
  ): Promise<TurnEnd> {
    const { run, turn } = document;
    const environment = workplaces.environmentOf(run);
    const place = workplaces.folderOf(run);
    const attachmentsFolder = (await attachments.has(run.id)) ? attachments.folderOf(run.id) : null;
    const input = turnInput(document, {
      // The factory's current declaration wins over the one that the run was created with.
      basePrompt: factoryIn(catalog, run.factoryUid)?.basePrompt ?? run.config.base_prompt ?? "",
      skill: run.skill === null ? null : await skillText(run.skill, catalog, environment, place),
      attachmentsFolder,
    });
    const kept = await outputs.open(run.id, turn);
    try {
      return await agent.work(
        {
          runId: run.id,
          number: turn,
          folder: place,
          ...input,
          ...files,
          model: run.config.model_id ?? null,
          skill: run.skill,
          environmentId: run.config.environment_id ?? null,
          attachmentsFolder,
          variables: environment?.variables ?? {},
        },
        signal,
        (text) => {
          output.add(text);
          kept.add(text);
        },
      );
    } finally {
      await kept.close();
    }
  }

  async function findingsOf(run: Run, artifactsFolder: string | null): Promise<Findings> {
    const repository = workplaces.environmentOf(run)?.repository ?? null;
    const [branch, files] = await Promise.all([
      workplaces.keepCommits(run).catch((error: unknown) => {
        log.warn("a run's commits could not be kept", { runId: run.id, error });
        return "";
      }),
      artifactsFolder === null ? null : artifactFiles(artifactsFolder).catch(() => null),
    ]);
    const isOwn = (url: string): boolean => {
      const [owner, name] = new URL(url).pathname.split("/").filter((part) => part !== "");
      return isRepository(repository, `${owner}/${name}`);
    };
    return { branch, isOwn, files, newUid: randomUUID };
  }

  /** A buffer for the output of the run's agent. */
  function newOutput(run: Run): TextTail {
    const redact = redactionFor(run);
    return createTextTail(mostAnswer, (text) => redact(readable(text)));
  }

  function cleaned(run: Run, text: string): string {
    const output = newOutput(run);
    output.add(text);
    return output.text();
  }

  return {
    newOutput,
    /** Works a turn through in the run's prepared folder. Never rejects. */
    async work(
      document: RunDocument,
      agent: Agent,
      context: TurnContext,
    ): Promise<{ readonly outcome: TurnOutcome; readonly findings: Findings }> {
      const { run, turn } = document;
      let artifactsFolder: string | null = null;
      let outcome: TurnOutcome;
      try {
        const files = await makeWorkFiles(folder, run);
        ({ artifactsFolder } = files);
        const end = await runAgent(document, agent, files, context);
        const answer = "answer" in end ? end.answer : undefined;
        const text = answer === undefined ? context.output.text() : cleaned(run, answer);
        outcome = outcomeOf(end, text, context.timeoutReason(), redactionFor(run));
      } catch (error) {
        log.error("a turn could not be worked on", { runId: run.id, turn, error });
        outcome = { kind: "broken", text: context.output.text(), reason: "The agent could not be started." };
      }
      return { outcome, findings: await findingsOf(run, artifactsFolder) };
    },
    /** The turn's output when the service was killed. */
    recoverOutput: async (run: Run, turn: number): Promise<string> =>
      answerOf(redactionFor(run)(await outputs.read(run.id, turn))).text,
    /** The text without the secret values of the run's environment. */
    redacted: (run: Run, text: string): string => redactionFor(run)(text),
  };
}

function outcomeOf(
  end: TurnEnd,
  output: string,
  timeoutReason: string | null,
  redact: (text: string) => string,
): TurnOutcome {
  const { text, asks } = answerOf(output);
  switch (end.kind) {
    case "finished":
      return { kind: asks ? "asked" : "answered", text };
    case "failed":
      return asks ? { kind: "asked", text } : { kind: "failed", text, reason: redact(end.reason) };
    case "broken":
      return { kind: "broken", text, reason: redact(end.reason) };
    case "aborted":
      return timeoutReason === null
        ? { kind: "interrupted", text }
        : { kind: "failed", text, reason: timeoutReason };
    default:
      return end satisfies never;
  }
}
