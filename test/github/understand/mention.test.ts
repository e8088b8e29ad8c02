import { describe, expect, it } from "vitest";
import { takeMention } from "#github/understand/mention.ts";

describe("a mention of the bot", () => {
  it("is removed from the text", () => {
    expect(takeMention("@agent-runs-bot fix it", "agent-runs-bot")).toEqual({
      mention: true,
      text: "fix it",
    });
    expect(takeMention("Hey @Agent-Runs-Bot, fix", "agent-runs-bot")).toEqual({
      mention: true,
      text: "Hey , fix",
    });
    expect(takeMention("@app[bot] fix", "app")).toEqual({ mention: true, text: "fix" });
  });

  it("at the start of a comment includes the colon or comma after it", () => {
    expect(takeMention("@bot, status", "bot")).toEqual({ mention: true, text: "status" });
    expect(takeMention("\n@bot: run fix\nall: of it", "bot")).toEqual({
      mention: true,
      text: "run fix\nall: of it",
    });
    expect(takeMention("@bot", "bot")).toEqual({ mention: true, text: "" });
  });

  it.each([
    ["another login that begins alike", "@agent-runs-bot-2 hi"],
    ["an address", "mail me@agent-runs-bot now"],
    ["a team", "@agent-runs-bot/team"],
    ["a code span", "use `@agent-runs-bot run`"],
    ["a code block", "```\n@agent-runs-bot\n```"],
    ["a quotation", "> @agent-runs-bot do it\n\nno, don't"],
    ["an HTML comment", "<!--\n@agent-runs-bot do it\n-->"],
  ])("is not found in %s, and the text stays unchanged", (_where, body) => {
    expect(takeMention(body, "agent-runs-bot")).toEqual({ mention: false, text: body });
  });

  it("is found quickly beside thousands of backticks", () => {
    const text = `a${"`".repeat(32_000)}${"a".repeat(32_000)}`;
    const startedMs = performance.now();
    expect(takeMention(`${text} @bot`, "bot")).toEqual({ mention: true, text });
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  it("is found beside backticks that are not a code span", () => {
    expect(takeMention("``a` and @bot", "bot")).toEqual({ mention: true, text: "``a` and" });
  });

  it("is seen beside a code span", () => {
    expect(takeMention("@bot run `@bot x`", "bot")).toEqual({ mention: true, text: "run `@bot x`" });
  });
});
