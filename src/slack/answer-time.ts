/** Slack waits so long for the answer to a request or an envelope, in milliseconds. */
export const answerMs = 3_000;

/** How long an event may wait for what it belongs to: the rest is for saving it and for the way back. */
export const patienceMs = 2_500;
