import { randomUUID } from "node:crypto";
import type { Log } from "#base/log.ts";
import { type Agent, answerOf, type TurnEnd } from "#service/agents/agent.ts";
import type { Catalog, FactorySpec } from "#service/catalog.ts";
import { artifactFiles } from "#service/files/artifact-files.ts";
import type { Attachments } from "#service/files/attachments.ts";
import type { OutputLog } from "#service/files/output-log.ts";
import { isOf, skillText } from "#service/files/skill-text.ts";
import { makeWorkFiles, type WorkFiles } from "#service/files/work-files.ts";
import type { Workplaces } from "#service/files/workplaces.ts";
import { createRedaction } from "#service/processes/secret-values.ts";
import { createTextTail, readable, type TextTail } from "#service/processes/text-tail.ts";
import type { Run, RunDocument } from "#service/run/run-document.ts";
import type { Findings, TurnOutcome } from "#service/run/run-life.ts";
import { turnInput } from "./turn-input.ts";

export interface TurnWorkOptions {
  readonly catalog: Catalog;
  readonly workplaces: Workplaces;
  readonly attachments: Attachments;
  readonly outputs: OutputLog;
  /** The service's own: what a run has on disk besides its folder is in here. */
  readonly folder: string;
  readonly log: Log;
}

/** One turn under way. */
export interface TurnUnderWay {
  readonly signal: AbortSignal;
  /** Whether the signal means that the time is over, and what is said of that then. */
  readonly lateness: () => string | null;
  /** What the agent writes, as people may read it. */
  readonly output: TextTail;
}

export interface TurnDone {
  readonly outcome: TurnOutcome;
  readonly findings: Findings;
}

export interface TurnWork {
  /** For what the run's agent writes. */
  newOutput(run: Run): TextTail;
  /** Works one turn through. The run's folder is ready. Never rejects. */
  work(document: RunDocument, agent: Agent, under: TurnUnderWay): Promise<TurnDone>;
  /** What the turn had written when the service was killed. */
  recoverOutput(run: Run, turn: number): Promise<string>;
  /** Text of the run's environment, without the values that are secret. */
  redacted(run: Run, text: string): string;
}

/** Most characters of one answer that are kept: its end. */
export const mostAnswer = 250_000;

export function createTurnWork(options: TurnWorkOptions): TurnWork {
  const { catalog, workplaces, attachments, outputs, folder, log } = options;

  const redacted = (run: Run, text: string): string =>
    createRedaction(workplaces.environmentOf(run)?.variables ?? {})(text);

  const factoryOf = (run: Run): FactorySpec | null =>
    catalog.factories.find(({ uid }) => uid === run.factoryUid) ?? null;

  async function agentEnd(
    document: RunDocument,
    agent: Agent,
    files: WorkFiles,
    { signal, output }: TurnUnderWay,
  ): Promise<TurnEnd> {
    const { run, turn } = document;
    const environment = workplaces.environmentOf(run);
    const place = workplaces.folderOf(run);
    const attachmentsFolder = (await attachments.has(run.id)) ? attachments.folderOf(run.id) : null;
    const input = turnInput(document, {
      // The factory's as it is declared now; the run has it as it was when it was sent there.
      basePrompt: factoryOf(run)?.basePrompt ?? run.config.base_prompt ?? "",
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
        log.warn("what a run has committed could not be kept", { runId: run.id, error });
        return "";
      }),
      artifactsFolder === null ? null : artifactFiles(artifactsFolder).catch(() => null),
    ]);
    const isOwn = (url: string): boolean => {
      const [owner, name] = new URL(url).pathname.split("/").filter((part) => part !== "");
      return repository !== null && isOf(repository, `${owner}/${name}`);
    };
    return { branch, isOwn, files, newUid: randomUUID };
  }

  function newOutput(run: Run): TextTail {
    const redact = createRedaction(workplaces.environmentOf(run)?.variables ?? {});
    return createTextTail(mostAnswer, (text) => redact(readable(text)));
  }

  function readably(run: Run, text: string): string {
    const output = newOutput(run);
    output.add(text);
    return output.text();
  }

  return {
    newOutput,
    async work(document, agent, under) {
      const { run, turn } = document;
      let artifactsFolder: string | null = null;
      let outcome: TurnOutcome;
      try {
        const files = await makeWorkFiles(folder, run);
        ({ artifactsFolder } = files);
        const end = await agentEnd(document, agent, files, under);
        const answer = "answer" in end ? end.answer : undefined;
        const text = answer === undefined ? under.output.text() : readably(run, answer);
        outcome = outcomeOf(end, text, under.lateness(), (reason) => redacted(run, reason));
      } catch (error) {
        log.error("a turn could not be worked on", { runId: run.id, turn, error });
        outcome = { kind: "broken", text: under.output.text(), reason: "The agent could not be started." };
      }
      return { outcome, findings: await findingsOf(run, artifactsFolder) };
    },
    recoverOutput: async (run, turn) => answerOf(redacted(run, await outputs.read(run.id, turn))).text,
    redacted,
  };
}

function outcomeOf(
  end: TurnEnd,
  output: string,
  late: string | null,
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
      return late === null ? { kind: "interrupted", text } : { kind: "failed", text, reason: late };
    default:
      return end satisfies never;
  }
}
