import { expect, test } from "vitest";
import { linkKey, newSessionKey, rightOf } from "#service/sessions/session-keys.ts";

test("a link's key opens what it was made for and no more", () => {
  const secret = newSessionKey();
  const [read, steer] = [linkKey(secret, "read"), linkKey(secret, "steer")];
  expect(rightOf(secret, read, "steer")).toBe("read");
  expect(rightOf(secret, steer, "steer")).toBe("steer");
  for (const wrong of ["", secret, read.slice(1), linkKey(newSessionKey(), "steer")]) {
    expect(rightOf(secret, wrong, "steer")).toBe("none");
  }
});

test("where links may only be read, keys that were handed out to steer read as well", () => {
  const secret = newSessionKey();
  expect(rightOf(secret, linkKey(secret, "steer"), "read")).toBe("read");
});

test("whoever has seen an old run's link, which held its secret, can derive no key to steer from it", () => {
  const old = "x".repeat(32);
  expect(linkKey(old, "steer")).toBe(old);
  expect(rightOf(old, old, "steer")).toBe("read");
});
