import { describe, expect, it } from "vitest";
import { findCommand } from "#github/understand/command-line.ts";

describe("the command in a comment", () => {
  it("is the rest of the line and every line after it", () => {
    expect(findCommand("Hello\n\n/agent run fix it\nwith care")).toBe("run fix it\nwith care");
  });

  it("is empty if the line has nothing else", () => {
    expect(findCommand("/agent")).toBe("");
  });

  it("is found after Windows line ends and in capitals", () => {
    expect(findCommand("a\r\n/Agent status\r\n")).toBe("status");
  });

  it("is found after up to three spaces, which the page does not show", () => {
    expect(findCommand("  /agent list")).toBe("list");
  });

  it.each([
    ["a longer word", "/agents run x"],
    ["a path", "/agent/run x"],
    ["the middle of a line", "please /agent run x"],
    ["a quotation", "> /agent run x"],
    ["a code block", "```\n/agent run x\n```"],
    ["a code block with tildes", "~~~sh\n/agent run x\n~~~"],
    ["a code block that never ends", "```\n/agent run x"],
    ["a code block in a list", "- ```\n  /agent run x\n\n  ```"],
    ["an indented code block", "    /agent run x"],
    ["an HTML comment", "<!--\n/agent run x\n-->"],
    ["an HTML comment that never ends", "hi <!-- there\n/agent run x"],
    ["a fence of four with three inside", "````\n```\n/agent run x\n````"],
  ])("is not found in %s", (_where, body) => {
    expect(findCommand(body)).toBeNull();
  });

  it("is found below a closed code block, a quotation and an HTML comment", () => {
    expect(findCommand("> said\n```js\n1\n```\n<!-- x -->\n/agent run y")).toBe("run y");
    expect(findCommand("> said\n/agent run y")).toBe("run y");
    expect(findCommand("- ```\n  1\n  ```\n/agent run y")).toBe("run y");
    expect(findCommand("- ```\n  1\n/agent run y")).toBe("run y");
  });

  it("keeps the code blocks that belong to the command", () => {
    expect(findCommand("/agent run this:\n```\n/agent cancel\n```")).toBe(
      "run this:\n```\n/agent cancel\n```",
    );
  });

  it("is found quickly in a hostile comment", () => {
    const hostile = `${">".repeat(60_000)}\n${"- ".repeat(2_000)}\n${"`".repeat(1_000)}`;
    expect(findCommand(hostile)).toBeNull();
  });
});
