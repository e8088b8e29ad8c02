/** One change of a run, or a follow-up to it, in a world whose clocks and lists misbehave. */
export interface Turn {
  readonly state: "INPROGRESS" | "BLOCKED" | "SUCCEEDED" | "follow-up";
  readonly skewMs: number;
  readonly listLagMs: number;
  readonly fetchLagMs: number;
  /** The bot's own clock is set ahead by this, or back. */
  readonly stepMs: number;
  /** Time until the next turn. */
  readonly waitMs: number;
}

/**
 * Returns a run's turns, the same for each seed: work, a question or an end, and a follow-up, several times.
 * `mostFetchLagMs`: fetches lag by up to this, and each end lasts longer.
 */
export function createRandomTurns(seed: number, mostFetchLagMs: number): readonly Turn[] {
  let last = seed;
  const random = (): number => {
    last = (Math.imul(last, 1_664_525) + 1_013_904_223) >>> 0;
    return last / 2 ** 32;
  };
  let apiStepMs = 0;
  const turn = (state: Turn["state"], leastMs: number): Turn => {
    if (random() < 0.2) apiStepMs = (random() - 0.5) * 240_000;
    const jitterMs = (random() - 0.5) * 4_000;
    return {
      state,
      skewMs: Math.round(apiStepMs + jitterMs),
      listLagMs: random() < 0.3 ? Math.round(random() * 20_000) : 0,
      fetchLagMs: Math.round(random() * mostFetchLagMs),
      stepMs: random() < 0.1 ? Math.round((random() - 0.5) * 24 * 3_600_000) : 0,
      waitMs: Math.round(leastMs + mostFetchLagMs * 1.5 + random() * 60_000),
    };
  };
  const turns: Turn[] = [];
  for (let round = 0; round < 4; round += 1) {
    const end = random() < 0.5 ? "BLOCKED" : "SUCCEEDED";
    turns.push(turn("INPROGRESS", 100), turn("INPROGRESS", 100), turn(end, 100), turn("follow-up", 2_000));
  }
  return turns.slice(0, -1);
}
