/**
 * The hidden first line of each comment of ours. It names the effect that posted the comment, so that a
 * comment whose answer was lost is found again, and it tells our comments from a person's where the bot
 * uses a person's token.
 */

const start = "<!-- agent-runs-bot ";
const end = " -->";

/** Percent-encoding leaves no `>`; without a double hyphen the id can't end the comment either. */
const encode = (effectId: string): string => encodeURIComponent(effectId).replaceAll("--", "-%2D");

export const markerOf = (effectId: string): string => `${start}${encode(effectId)}${end}`;

const firstLine = (body: string): string => body.split(/\r?\n/, 1)[0] ?? "";

/** True for a body that begins with a marker of any effect. */
export const hasMarker = (body: string): boolean => firstLine(body).startsWith(start);

/** True for the body that this effect posted. */
export const isMarkedWith = (body: string, effectId: string): boolean =>
  firstLine(body) === markerOf(effectId);
