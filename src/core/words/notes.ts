/** Notes to one person: why something was not done, and what to do next. */
import type { Person } from "#core/person.ts";
import type { Refusal } from "#core/policy.ts";
import type { View } from "#core/view.ts";
import { fixLine, note, plain } from "./parts.ts";

const refusals: Readonly<Record<Refusal, string>> = {
  unlisted: "you are not on the list of people who may use this bot",
  "not-here": "this bot may not be used here",
  "no-write-access": "this needs write access to the repository",
  "not-a-member": "only members of this repository or workspace may do this",
};

/** The person may not use the bot here. */
export const refusedView = (refusal: Refusal): View => plain("bad", [`Sorry, ${refusals[refusal]}.`]);

/** The author of a reply without a mention may not steer the run. */
export const replyRefusedView = (refusal: Refusal): View =>
  plain("plain", [`Not sent to the agent: ${refusals[refusal]}.`]);

/** The platform did not return the person's permission. */
export const permissionUnknownView = (reason: string): View =>
  plain("bad", [`I did nothing, because I could not check your permissions: ${reason}`]);

/** A command is invalid; `problem` is from `problems.ts`. */
export const problemView = (problem: string): View => note(problem, "attention");

/** `reason` of `givenUpView` for a message to a run that never started. */
export const notStartedReason = "the run could not be started.";

/** A message reached the agent twice, which can't be undone. */
export const messageTwiceView = note(
  "Your message reached the agent twice, because its service did not show at once that it had it.",
);

/** The run will never start. */
export const notStartedView = (by: Person, reason: string, link: string | undefined): View =>
  plain(
    "bad",
    [{ person: by }, " ", { strong: "The run could not be started." }],
    [[`Reason: ${reason}`], ...fixLine(link)],
  );

const failures = {
  "follow-up": "Your message did not reach the agent",
  unsure: "I can't tell whether your message reached the agent",
  cancel: "The run could not be cancelled",
  fetch: "The run could not be read",
  list: "The runs could not be listed",
  attach: "The run can't be followed here",
  "hand-over": "That didn't work",
};

/** A person's request failed. */
export const givenUpView = (what: keyof typeof failures, reason: string, link: string | undefined): View =>
  plain("bad", [`${failures[what]}: ${reason}`], fixLine(link));

export const noRunHereView = note("There is no run here yet. Start one with `run <prompt>`.");
export const noActiveRunView = note("No run is active here.");
export const notSentView = note("Not sent: no run is active here. `retry` starts it again.");
export const runActiveView = note(
  "A run is already active here. Comment to steer it, or stop it with `/agent cancel`.",
);
export const filesLeftView = note("Only text is sent to the agent. Files stay here.");
export const oldCardView = note(
  "This card is out of date: I no longer know its run. Start a new one with `run <prompt>`.",
);

export const neverStartedView = note("That run never started. `retry` starts it again.");
export const alreadyEndedView = note("That run has already ended.");
export const alreadyCancellingView = note("That run is already being cancelled.");
export const cancellingView = note("Cancelling the run. Its card shows when it has stopped.");

export const retriedElsewhereView = note(
  "Started the run again, in the thread where it was first asked for.",
);
export const alreadyRetriedView = note("That run was already started again.");
export const stillActiveView = note("That run is still active. Reply to steer it, or `cancel` it first.");
export const notRetryableView = note(
  "I can't start that run again: it was started elsewhere, or long ago. Start a new one with `run <prompt>`.",
);

export const mutedView = note(
  "Muted: replies without a mention no longer go to the agent. `unmute` sends them again.",
);
export const unmutedView = note("Unmuted: replies go to the agent again.");

/** A thread already follows the run. */
export const alreadyFollowedView = (run: string): View =>
  note(`A thread here already follows the run \`${run}\`.`);
/** The run was asked for here, and its own thread is about to follow it. */
export const followedAtHomeView = (run: string): View =>
  note(`The run \`${run}\` is followed in the thread where it was asked for.`);
/** The run belongs to another scope, where the person may have no rights. */
export const foreignRunView = (run: string): View =>
  note(`The run \`${run}\` belongs to another channel or repository.`, "bad");
/** No thread has the run. */
export const unknownRunView = (run: string): View =>
  note(
    `I don't follow a run \`${run}\` here. \`attach ${run}\` follows a run that was started elsewhere.`,
    "attention",
  );
/** The API has no such run. */
export const noSuchRunView = (run: string): View =>
  note(`There is no run \`${run}\`. Please check its id.`, "attention");
