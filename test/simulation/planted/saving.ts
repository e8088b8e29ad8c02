/** Promises 1, 2, 6 and 10: durability, effects that happen once, a broken store, and restarts. */
import { DiskError } from "#test/simulation/world/disk.ts";
import type { Planted } from "./planted.ts";

export const saving: readonly Planted[] = [
  {
    name: "acked first, saved afterwards",
    promise: 1,
    plant: {
      accept: (accept) => async (event) => {
        accept(event).catch(() => {});
        return "saved";
      },
    },
  },
  {
    name: "acked although it could not be saved",
    promise: 1,
    plant: { accept: (accept) => (event) => accept(event).catch(() => "saved") },
  },
  {
    name: "events that took effect are forgotten",
    promise: 2,
    plant: {
      decide: (decide) => (thread, event, now) => {
        const decision = decide(thread && { ...thread, seen: [] }, event, now);
        if (decision.kind !== "keep") return decision;
        const seen = [...(thread?.seen ?? []), ...decision.thread.seen];
        return { kind: "keep", thread: { ...decision.thread, seen } };
      },
    },
  },
  {
    name: "events that took effect are forgotten at a restart",
    promise: 2,
    plant: {
      store: (store) => {
        const known = new Set<string>();
        return {
          ...store,
          change: (ref, fn) =>
            store.change(ref, (thread) => {
              if (thread === null || known.has(thread.id)) return fn(thread);
              known.add(thread.id);
              const change = fn({ ...thread, seen: [] });
              if (change.thread === null) return change;
              const seen = [...thread.seen, ...change.thread.seen];
              return { ...change, thread: { ...change.thread, seen } };
            }),
        };
      },
    },
  },
  {
    name: "deliveries are deduplicated by their own id, not the message's",
    promise: 2,
    plant: {
      accept: (accept) => {
        let deliveries = 0;
        return (event) => {
          deliveries += 1;
          return accept(event.kind === "reply" ? { ...event, id: `${event.id}-${deliveries}` } : event);
        };
      },
    },
  },
  {
    name: "a thread that can't be read is taken for a new one",
    promise: 6,
    plant: {
      store: (store, disk) => ({
        ...store,
        change: (ref, fn) =>
          store.change(ref, fn).catch((error: unknown) => {
            if (!(error instanceof DiskError) || error.while !== "reading") throw error;
            const { thread, result } = fn(null);
            if (thread !== null) disk.put(thread);
            return result;
          }),
      }),
    },
  },
  {
    name: "an unknown state is an error",
    promise: 6,
    plant: {
      decide: (decide) => (thread, event, now) => {
        if (event.kind === "run" && event.run.state === "PAUSED") throw new Error("no such state");
        return decide(thread, event, now);
      },
    },
  },
  {
    name: "a restart forgets pending effects",
    promise: 10,
    plant: { store: (store) => ({ ...store, async *unsettled() {} }) },
  },
  {
    name: "a restart forgets unfinished runs",
    promise: 10,
    plant: {
      store: (store) => ({
        ...store,
        async *unsettled() {
          for await (const thread of store.unsettled()) if (thread.effects.length > 0) yield thread;
        },
      }),
    },
  },
];
