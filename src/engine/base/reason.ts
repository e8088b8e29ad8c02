/** What an error says, for the log. */
export const reasonOf = (error: unknown): string =>
  error instanceof Error ? `${error.name}: ${error.message}` : `a ${typeof error} was thrown`;
