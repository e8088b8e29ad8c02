/** Compares people's actions with what is visible from outside. */
import type { Deed } from "#test/kill/deeds/deeds.ts";
import type { Outside } from "#test/kill/outside.ts";
import { judgeDeeds } from "./deeds.ts";
import { judgePosts } from "./posts.ts";
import { judgeRuns } from "./runs.ts";
import type { Violation, Wrong } from "./violation.ts";

/** `isSettled`: the bot no longer follows any run. */
export function judge(deeds: readonly Deed[], outside: Outside, isSettled: boolean): readonly Violation[] {
  const violations: Violation[] = [];
  const wrong: Wrong = (promise, what) => {
    violations.push({ promise, what });
  };
  judgeRuns(deeds, outside, wrong);
  judgePosts(deeds, outside, isSettled, wrong);
  judgeDeeds(deeds, outside, wrong);
  return violations;
}
