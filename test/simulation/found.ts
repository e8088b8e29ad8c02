/** Seeds that found a defect of the bot, and what it was. */
export const found: readonly { readonly seed: number; readonly what: string }[] = [
  { seed: 26, what: "a retry asked for in another place took a place that had a thread, and stood still" },
  { seed: 1101, what: "a mention under a card that was not written down began a second thread in its place" },
  { seed: 4067, what: "a run was attached before its own dispatch had heard that it was made" },
  { seed: 71, what: "an end from before a follow-up was taken for the end of what followed it" },
  { seed: 209, what: "a follow-up known to have arrived only after the end said “Continuing” for ever" },
  { seed: 78, what: "a clock that was ahead hid the run that an earlier try had made" },
  { seed: 23, what: "two people attached one run at once, and one of the outcomes could never be saved" },
  {
    seed: 3877,
    what: "a word from before a follow-up, saved after it, ended the wait for the next question",
  },
  { seed: 1_303_391, what: "a look from before a follow-up ended the wait for what came of that" },
  { seed: 714_213, what: "a reply to a request that came after a later one was taken for no reply" },
];
