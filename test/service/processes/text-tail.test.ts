import { expect, test } from "vitest";
import { createRedaction } from "#service/processes/secret-values.ts";
import { createTextTail } from "#service/processes/text-tail.ts";

test("binary output keeps its readable characters, tabs and line ends included", () => {
  const tail = createTextTail(100);
  tail.add("a\0b\u0007\u001b[31mred\u001b[0m\tc\r\nd\u007f");
  expect(tail.text()).toBe("abred\tc\r\nd");
});

test("a secret that is cut in two leaves no half behind", () => {
  const redact = createRedaction({ API_TOKEN: "0123456789abcdef" });
  const tail = createTextTail(40, redact);
  tail.add(`token: 0123456789abcdef\n${"x".repeat(31)}`);
  expect(tail.text()).toBe(`[The beginning is left out.]\n${"x".repeat(31)}`);
});

test("a secret is hidden with and without the line end of its declaration", () => {
  const redact = createRedaction({ API_TOKEN: "0123456789abcdef\n" });
  expect(redact("<0123456789abcdef> <0123456789abcdef\n>")).toBe("<***> <***\n>");
});
