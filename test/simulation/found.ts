/** Seeds that found a defect of the bot, and what it was. */
export const found: readonly { readonly seed: number; readonly what: string }[] = [];
