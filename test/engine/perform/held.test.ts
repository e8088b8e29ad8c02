import { expect, test } from "vitest";
import { create, reply, setUp } from "#test/support/engine/set-up.ts";
import { newThread } from "#test/support/engine/small-decide.ts";

test("the effects of a platform that is not set up wait for it, and so does what comes after them", async () => {
  const before = setUp({ without: "forge" });
  await before.engine.start();
  const { ask, chat, forge, api, clock } = before;
  await ask("forge:x#1", reply("r1", "forge:x#1"), create("d1", { after: "r1" }), reply("r2", "chat:a"));
  await ask("forge:x#2", reply("r3", "forge:x#2"));
  await clock.advance(3 * 24 * 3_600_000);
  expect(chat.tries.map(({ id }) => id)).toEqual(["r2"]);
  expect(api.count("create")).toBe(0);
  expect(before.engine.status()).toMatchObject({ pendingEffects: 0, held: new Map([["forge", 2]]) });

  const again = before.restart();
  await again.engine.start();
  expect(again.engine.status()).toMatchObject({ held: new Map([["forge", 2]]) });
  const { engine, store } = again.restart({});
  await engine.start();
  // The run is looked for until the API's settling time is over.
  await clock.advance(90_000);
  expect(forge.tries.map(({ id }) => id)).toEqual(["r1", "r3"]);
  expect(api.count("create")).toBe(1);
  expect(store.get("forge:x#1").effects).toEqual([]);
  expect(store.get("forge:x#2").effects).toEqual([]);
  expect(engine.status()).toMatchObject({ held: new Map() });
});

test("a thousand held effects cost the others nothing", async () => {
  const { engine, ask, chat, clock, store } = setUp({ without: "forge" });
  for (let n = 0; n < 1_000; n += 1) {
    store.put(newThread(`forge:x#${n}`, { effects: [reply(`f${n}`, `forge:x#${n}`)] }));
  }
  await engine.start();
  await ask("chat:a", reply("r1", "chat:a"));
  await clock.advance(0);
  expect(chat.tries).toHaveLength(1);
  expect(engine.status()).toMatchObject({ pendingEffects: 0, held: new Map([["forge", 1_000]]) });
});
