/** Holds what people did against what can be seen from outside. */
import type { Deed } from "./deeds.ts";
import { judgeDeeds } from "./judge-deeds.ts";
import { judgePosts } from "./judge-posts.ts";
import { judgeRuns } from "./judge-runs.ts";
import type { Outside } from "./outside.ts";
import type { Violation, Wrong } from "./violation.ts";

/** `isSettled`: the bot follows no run any more. */
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
