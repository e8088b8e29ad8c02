import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { gitEnvironment, inApp, offering, repository } from "#test/support/service/git-repository.ts";
import { serving } from "#test/support/service/serving.ts";

const files = {
  ".agents/skills/release/SKILL.md": "How to release.\n",
  ".claude/skills/review/SKILL.md": "How to review.\n",
  "skills/triage/SKILL.md": "How to triage.\n",
  "docs/deploy/SKILL.md": "How to deploy.\n",
};

/** The agents' inputs for runs with these skills. */
async function inputsWith(skills: readonly string[], setup: readonly string[] = []): Promise<string[]> {
  const { path } = await repository(files);
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: offering({ repository: path, setup }),
  });
  const ids = await Promise.all(skills.map((skill) => api.create({ ...inApp("Go."), skill })));
  for (const id of ids) await api.until(id, "SUCCEEDED");
  return Promise.all(ids.map(async (id) => (await api.said(id)).at(-1) ?? ""));
}

test("the text of a skill in the environment's repository comes before the prompt", async () => {
  const texts = {
    "octo/app:release": "How to release.",
    "octo/app:review": "How to review.",
    "octo/app:triage": "How to triage.",
    "Octo/App:docs/deploy/SKILL.md": "How to deploy.",
  };
  const inputs = await inputsWith(Object.keys(texts));
  for (const [place, [skill, text]] of Object.entries(texts).entries()) {
    const input = inputs[place] ?? "";
    expect(input).toContain(`assistant: Use the skill ${skill}, which is this text. Its files are in /`);
    expect(input.endsWith(`<skill>\n${text}\n</skill>\n\nGo.`)).toBe(true);
  }
});

test("a skill's name only ever leads to files inside the worktree; otherwise the agent gets the name alone", async () => {
  const skills = [
    "octo/other:release",
    "octo/app:missing",
    "octo/app:../secret.md",
    "octo/app:docs/../../../secret.md",
    "octo/app:/etc/passwd",
    "octo/app:docs/./deploy/SKILL.md",
    "octo/app:docs\\deploy\\SKILL.md",
    "octo/app:link.md",
    "octo/app:linked/secret.md",
    "octo/app:docs/deploy",
    "octo/app:pipe.md",
    "octo/app:",
    "release",
  ];
  const inputs = await inputsWith(skills, [
    "echo secret > ../secret.md; ln -s ../secret.md link.md; ln -s .. linked; mkfifo pipe.md",
  ]);
  expect(inputs).toEqual(skills.map((skill) => `assistant: Use the skill ${skill}.\n\nGo.`));
});

test("a skill folder that is a link inside the repository is followed", async () => {
  const [input] = await inputsWith(
    ["octo/app:other"],
    [
      "mkdir -p real/other; echo Linked. > real/other/SKILL.md; ln -s real .skills; rm -r skills; ln -s .skills skills",
    ],
  );
  expect(input).toContain("<skill>\nLinked.\n</skill>");
});

test("a declared skill needs no environment and overrides the repository's", async () => {
  const folder = await freshFolder();
  const file = join(folder, "SKILL.md");
  await writeFile(file, "The declared way.\n");
  await mkdir(join(folder, "other"));
  await symlink(file, join(folder, "other", "SKILL.md"));
  const { path } = await repository(files);
  const { api } = await serving({
    environment: gitEnvironment,
    command: "cat",
    catalog: offering(
      { repository: path },
      { skills: [{ spec: "octo/app:release", description: null, file: join(folder, "other", "SKILL.md") }] },
    ),
  });
  for (const request of [{ prompt: "Go." }, inApp("Go.")]) {
    const id = await api.create({ ...request, skill: "octo/app:release" });
    await api.until(id, "SUCCEEDED");
    expect((await api.said(id)).at(-1)).toContain("<skill>\nThe declared way.\n</skill>");
  }
});

test("a factory's base prompt comes first, and its command overrides the environment's and the service's", async () => {
  const { path } = await repository();
  const factory = {
    uid: "f1",
    name: "Fixer",
    aliases: [],
    description: null,
    basePrompt: "You fix.",
    environmentId: "app",
    modelId: null,
    skill: null,
    command: "echo the factory; cat",
  };
  const { api } = await serving({
    environment: gitEnvironment,
    command: "echo the service; cat",
    catalog: offering({ repository: path, command: "echo the environment; cat" }, { factories: [factory] }),
  });
  const answerTo = async (id: string): Promise<string | undefined> => {
    await api.until(id, "SUCCEEDED");
    return (await api.said(id)).at(-1);
  };
  const sent = await (await api.send("POST", "/factory/f1/runs", { prompt: "Go." })).json();
  expect(await answerTo(sent.run_id)).toBe("assistant: the factory\nYou fix.\n\nGo.");
  expect(await answerTo(await api.create(inApp("Go.")))).toBe("assistant: the environment\nGo.");
  expect(await answerTo(await api.create({ prompt: "Go." }))).toBe("assistant: the service\nGo.");
});
