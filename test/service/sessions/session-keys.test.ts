import { expect, test } from "vitest";
import { linkKey, newSessionKey, rightOf } from "#service/sessions/session-keys.ts";

test("a link's key gives the right it was made for and no more", () => {
  const secret = newSessionKey();
  const [read, steer] = [linkKey(secret, "read"), linkKey(secret, "steer")];
  expect(rightOf(secret, read, "steer")).toBe("read");
  expect(rightOf(secret, steer, "steer")).toBe("steer");
  for (const wrong of ["", secret, read.slice(1), linkKey(newSessionKey(), "steer")]) {
    expect(rightOf(secret, wrong, "steer")).toBe("none");
  }
});

test("once links are read-only, earlier steering keys still read", () => {
  const secret = newSessionKey();
  expect(rightOf(secret, linkKey(secret, "steer"), "read")).toBe("read");
});

test("no steering key can be derived from an old run's link, which holds its secret", () => {
  const old = "x".repeat(32);
  expect(linkKey(old, "steer")).toBe(old);
  expect(rightOf(old, old, "steer")).toBe("read");
});
