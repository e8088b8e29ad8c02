/** Name and message of an error, for the log. A thrown value that is no error is named by its type only. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error} was thrown`;
