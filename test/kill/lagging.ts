/** A world in which every system lags behind its writes and loses answers of writes that it performed. */
import type { BadWorld, LostAnswers } from "#test/support/worlds/bad-world.ts";

const lost: LostAnswers = { cut: 0.12, unavailable: 0.12 };
const lateToo: LostAnswers = { ...lost, late: 0.06, lateMs: 2_000 };

/** Reads are up to 3 s late everywhere. */
export const laggingWorld: BadWorld = {
  api: {
    creates: lateToo,
    followUps: lateToo,
    listLagMs: 3_000,
    fetchLagMs: 2_000,
    conversationLagMs: 3_000,
  },
  slack: { posts: lost, listLagMs: 3_000 },
  github: { posts: lost, listLagMs: 3_000 },
};

/** More than what performs and shows a write takes in that world. */
export const laggingSettlingSeconds = 6;
