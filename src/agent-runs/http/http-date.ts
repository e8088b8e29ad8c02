/** Every form of an HTTP date begins with a weekday; `Date.parse` alone would read "-5" as a year. */
const form = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/i;

/**
 * Returns the date of a header in milliseconds since the epoch; undefined if it is absent or unreadable.
 * Source: RFC 9110, section 5.6.7.
 */
export function parseHttpDate(header: string | null): number | undefined {
  const value = header?.trim() ?? "";
  if (!form.test(value)) return undefined;
  // The oldest of the three forms names no zone, and means GMT.
  const date = Date.parse(value.endsWith("GMT") ? value : `${value} GMT`);
  return Number.isNaN(date) ? undefined : date;
}
