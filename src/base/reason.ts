/** Returns an error's name and message for the log; of any other thrown value, only its type. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error} was thrown`;

/** Returns an error's message, for people; of any other thrown value, only its type. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : reasonOf(error);
