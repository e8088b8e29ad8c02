/** Who the bot is on GitHub. */
export interface Identity {
  /** Login under which its comments appear: `octocat`, or `my-app[bot]`. */
  readonly login: string;
  /** What people write after `@` to mention it. */
  readonly mention: string;
}

/** The answer is kept once it is known; a failure is not, and is asked again. Rejects as `ask` does. */
export type AskIdentity = () => Promise<Identity>;

export function createIdentity(ask: AskIdentity): { known: AskIdentity; fresh: AskIdentity } {
  let identity: Identity | null = null;
  let underWay: Promise<Identity> | null = null;

  function fresh(): Promise<Identity> {
    underWay ??= ask()
      .then((answer) => {
        identity = answer;
        return answer;
      })
      .finally(() => {
        underWay = null;
      });
    return underWay;
  }

  return { known: () => (identity === null ? fresh() : Promise.resolve(identity)), fresh };
}
