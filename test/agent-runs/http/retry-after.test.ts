import { expect, test } from "vitest";
import { retryAfterMs } from "#agent-runs/http/retry-after.ts";

const now = Date.UTC(2026, 0, 5, 12, 0, 0);
const day = 24 * 60 * 60 * 1000;

test.each([
  ["seconds", { "retry-after": "7" }, 7_000],
  ["parts of a second", { "retry-after": " 0.25 " }, 250],
  ["nothing to wait", { "retry-after": "0" }, 0],
  ["milliseconds, which go before seconds", { "retry-after-ms": "40", "retry-after": "7" }, 40],
  ["seconds beside unreadable milliseconds", { "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  ["a date", { "retry-after": "Mon, 05 Jan 2026 12:01:30 GMT" }, 90_000],
  ["a date of RFC 850", { "retry-after": "Monday, 05-Jan-26 12:01:30 GMT" }, 90_000],
  ["a date of asctime", { "retry-after": "Mon Jan  5 12:01:30 2026" }, 90_000],
  [
    "a date by the sender's clock, not by ours",
    { "retry-after": "Wed, 07 Jan 2026 12:01:30 GMT", date: "Wed, 07 Jan 2026 12:00:00 GMT" },
    90_000,
  ],
  ["a date that is past", { "retry-after": "Mon, 05 Jan 2026 11:00:00 GMT" }, 0],
  ["more than a day", { "retry-after": "99999999999999999999" }, day],
  ["no header", {}, undefined],
  ["an empty header", { "retry-after": "" }, undefined],
  ["a negative number", { "retry-after": "-5" }, undefined],
  ["words", { "retry-after": "in a while" }, undefined],
  ["a weekday and nonsense", { "retry-after": "Mondays only" }, undefined],
])("%s is read", (_, headers, expected) => {
  expect(retryAfterMs(new Headers(headers), now)).toBe(expected);
});
