import fc from "fast-check";
import { expect, test } from "vitest";
import { parseCommand, parseMention } from "#core/command.ts";

const problemOf = (text: string): string => {
  const parsed = parseCommand(text);
  return parsed.ok ? "" : parsed.problem;
};

test("`run` accepts flags before the prompt in every spelling", () => {
  expect(
    parseCommand(
      'run --model gpt-x --env=prod --title "Fix the build" —name nightly --mcp docs,web --mcp docs --skill o/r:s --factory f fix --this',
    ),
  ).toEqual({
    ok: true,
    command: {
      kind: "run",
      prompt: "fix --this",
      flags: {
        model: "gpt-x",
        env: "prod",
        title: "Fix the build",
        name: "nightly",
        mcp: ["docs", "web"],
        skill: "o/r:s",
        factory: "f",
      },
    },
  });
});

test("two hyphens end the flags, so that a prompt can begin with one", () => {
  expect(parseCommand("run -- --verbose should work")).toMatchObject({
    command: { prompt: "--verbose should work", flags: {} },
  });
});

test("a prompt keeps its lines", () => {
  expect(parseCommand("run fix this:\n\n- a\n- b")).toMatchObject({
    command: { prompt: "fix this:\n\n- a\n- b" },
  });
});

test("a skill needs no prompt, everything else does", () => {
  expect(parseCommand("run --skill o/r:s")).toMatchObject({ ok: true });
  expect(problemOf("run")).toContain("What should the agent do?");
  expect(problemOf("run --model x")).toContain("What should the agent do?");
});

test("a problem says what to type instead", () => {
  expect(problemOf("rnu fix it")).toContain("Did you mean `run`?");
  expect(problemOf("fix the flaky test")).toContain("`run fix the flaky test`");
  expect(problemOf("run --modle x fix")).toContain("Did you mean `--model`?");
  expect(problemOf("run --colour red fix")).toContain("`--model`, `--env`");
  expect(problemOf("run --model")).toContain("needs a value");
  expect(problemOf("run --model --env x fix")).toContain("`--model` needs a value");
  expect(problemOf("run --model a --model b fix")).toContain("twice");
  expect(problemOf("attach")).toContain("attach <run>");
  expect(problemOf("cancel the last run please")).toContain("at most one run id");
  expect(problemOf('run --title "Fix the build do it')).toContain("never closed");
  expect(problemOf("run --title=“Fix the build do it")).toContain("never closed");
});

test("a prompt that begins like a misspelled command is suggested as a prompt too", () => {
  expect(problemOf("test the login page")).toContain("`run test the login page`");
  expect(problemOf("lsit")).not.toContain("To start a run");
});

test("lines below a command are ignored, except for a prompt", () => {
  expect(parseCommand("cancel\n\nnot needed any more")).toMatchObject({
    command: { kind: "cancel", run: null },
  });
  expect(parseCommand("status run-1\r\n\r\nOn Monday bob wrote:")).toMatchObject({
    command: { run: "run-1" },
  });
  expect(parseCommand("Cancel.\n\nOn Monday bob wrote:")).toMatchObject({ command: { kind: "cancel" } });
  expect(problemOf("attach\nrun-1")).toContain("attach <run>");
  expect(problemOf("cancel\n/agent run fix it another way")).toContain("one command");
  expect(parseCommand("run\nfix\nall")).toMatchObject({ command: { prompt: "fix\nall" } });
});

test("no text means help", () => {
  for (const text of ["", "  ", "help", "HELP", "--help"]) {
    expect(parseCommand(text)).toEqual({ ok: true, command: { kind: "help" } });
  }
});

test("status, cancel, retry and attach take a run's id", () => {
  expect(parseCommand("status `run-1`")).toEqual({ ok: true, command: { kind: "status", run: "run-1" } });
  expect(parseCommand("cancel")).toEqual({ ok: true, command: { kind: "cancel", run: null } });
  expect(parseCommand("retry")).toEqual({ ok: true, command: { kind: "retry", run: null } });
  expect(parseCommand("attach run-1")).toEqual({ ok: true, command: { kind: "attach", run: "run-1" } });
});

test("after a mention, text that only begins like a command is a prompt", () => {
  for (const talk of [
    "list the failing tests",
    "status of the build is red, why?",
    "cancel subscriptions don't refund",
    "retry logic is missing in the client",
    "help me with this",
    "fix it",
    "mute the noisy logger",
  ]) {
    expect(parseMention(talk), talk).toBeNull();
  }
  for (const command of [
    "list",
    "status",
    "status run-1",
    "cancel",
    "retry",
    "help",
    "mute",
    "run x",
    "",
    "status?",
    "Cancel.",
  ]) {
    expect(parseMention(command), command).toMatchObject({ ok: true });
  }
});

test("every text is either a command or a short problem", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 2_000, unit: "binary" }), (text) => {
      const parsed = parseCommand(text);
      if (!parsed.ok) {
        expect(parsed.problem.length).toBeGreaterThan(10);
        expect(parsed.problem.length).toBeLessThan(400);
      }
      parseMention(text);
    }),
  );
});

test("ten thousand flags are parsed like one", () => {
  expect(problemOf(`run ${"--model x ".repeat(10_000)}`)).toContain("twice");
  expect(parseCommand(`run ${"--mcp x ".repeat(10_000)} go`)).toMatchObject({
    command: { flags: { mcp: ["x"] } },
  });
});
