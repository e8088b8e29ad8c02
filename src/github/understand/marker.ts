/**
 * The hidden first line of the bot's comments. It names the effect that posted the comment, so that the comment is
 * found again if the response was lost. It also distinguishes the bot from the person whose token it uses.
 */

const start = "<!-- agent-runs-bot ";
const end = " -->";

/** Without `>` and double hyphens the id can't end the HTML comment. */
const encode = (effectId: string): string => encodeURIComponent(effectId).replaceAll("--", "-%2D");

/** Returns the marker of the effect's comment. */
export const markerOf = (effectId: string): string => `${start}${encode(effectId)}${end}`;

/** Whether the body was posted or edited by an effect whose id begins with this. */
export const isMarkedFrom = (body: string, idPrefix: string): boolean =>
  firstLine(body).startsWith(`${start}${encode(idPrefix)}`);

const firstLine = (body: string): string => body.split(/\r?\n/, 1)[0] ?? "";

/** Whether the body begins with the marker of any effect. */
export const hasMarker = (body: string): boolean => firstLine(body).startsWith(start);

/** Whether this effect posted the body. */
export const isMarkedWith = (body: string, effectId: string): boolean =>
  firstLine(body) === markerOf(effectId);
