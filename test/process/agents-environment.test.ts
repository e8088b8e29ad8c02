import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startBot } from "#test/support/bot/start-bot.ts";
import { freshFolder } from "#test/support/fresh-folder.ts";
import { apiAt } from "#test/support/service/serving.ts";

test("agents on this machine get no variables of any platform", async () => {
  const cwd = await freshFolder();
  const env = {
    AGENT_COMMAND: "env",
    LINE_CHAT_ADDRESS: "127.0.0.1:9",
    LINE_CHAT_PASSWORD: "password-of-the-line-chat",
    OF_THE_TEAM: "for agents too",
  };
  const script = join(import.meta.dirname, "../line-chat/main.ts");
  const bot = await startBot(env, { cwd, script });
  const url = await bot.url;
  const key = (await readFile(join(cwd, "data/embedded-service-key"), "utf8")).trim();
  const api = apiAt(url, key);
  const id = await api.create({ prompt: "What is set?" });
  await api.until(id, "SUCCEEDED");
  const said = (await api.said(id)).join();
  expect(said).toContain("OF_THE_TEAM=for agents too");
  expect(said).not.toMatch(/LINE_CHAT|password-of-the-line-chat/);
});
