/** How long a refused sender may go on sending, so that it reads the response. */
const graceMs = 1_000;

/** Discards for a moment what still arrives of a refused request; then its connection ends. */
export function discardRest(request: {
  readonly complete: boolean;
  resume(): unknown;
  destroy(): unknown;
}): void {
  if (request.complete) return;
  request.resume();
  setTimeout(() => request.destroy(), graceMs).unref();
}
