/** Seeds that found a defect of the bot, with the defect. */
export const found: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 26, what: "a retry asked for in another place took a place that had a thread, and never finished" },
  { seed: 1101, what: "a mention under a card that was not saved yet began a second thread in its place" },
  { seed: 4067, what: "a run was attached before its own dispatch had learned that it was created" },
  { seed: 71, what: "an end from before a follow-up was taken for the end after it" },
  {
    seed: 209,
    what: "a follow-up whose arrival was confirmed only after the end left the card at “Continuing”",
  },
  { seed: 78, what: "a clock that was ahead hid the run that an earlier try had created" },
  { seed: 23, what: "two people attached one run at once, and one of the outcomes could never be saved" },
  {
    seed: 3877,
    what: "a snapshot from before a follow-up, saved after it, kept the next BLOCKED from being told",
  },
  {
    seed: 1_303_391,
    what: "a snapshot from before a follow-up settled the run, and its next end was not told",
  },
  { seed: 714_213, what: "a reply to a request that came after a later one was not taken for a reply" },
  { seed: 5535, what: "a reply was used up while the run that it belongs to was still being attached" },
  { seed: 1398, what: "a clock that was set back hid what was said while the bot was away" },
];
