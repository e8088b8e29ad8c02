/** The final state that is visible in Slack, on GitHub, at the service and in the agent's marks. */
import { readFileSync } from "node:fs";
import { dispatchKey } from "#core/run.ts";
import { placeOf } from "#test/kill/deeds/github.ts";
import type { ListedRun, Said } from "./api.ts";
import { effectOf, writtenIn } from "./look.ts";
import type { Town } from "./town.ts";

/** A message by the bot. */
export interface Post {
  readonly place: string;
  /** Id of the effect that posted it. */
  readonly effect: string;
  /** The event or dispatch that it follows from. */
  readonly cause: string;
  readonly kind: string;
  readonly text: string;
}

export interface SeenRun extends ListedRun {
  readonly dispatch: string;
  /** Marks of the turns that the agent began, and of those that it ended. */
  readonly begun: readonly string[];
  readonly finished: readonly string[];
  readonly said: readonly Said[];
}

export interface Outside {
  /** Oldest first in each place. */
  readonly posts: readonly Post[];
  /** In the order in which they were created. */
  readonly runs: readonly SeenRun[];
  /** Names of the bot's reactions, by the id of the message's event. */
  readonly reactions: ReadonlyMap<string, readonly string[]>;
  /** Labels by place. */
  readonly labels: ReadonlyMap<string, readonly string[]>;
  /** Ephemeral and direct messages in Slack, by user id. */
  readonly whispers: Readonly<Record<string, readonly string[]>>;
}

/** The dispatch that a retry repeats for the first time; the dispatch itself if it is none. */
export const firstOf = (dispatch: string): string => dispatch.split("#retry-")[0] ?? dispatch;

/** The places of the run's cards. */
export const placesOf = ({ posts }: Outside, dispatch: string): readonly string[] =>
  posts.filter(({ kind, cause }) => kind === "card" && cause === dispatch).map(({ place }) => place);

export const lookFromOutside = async (town: Town): Promise<Outside> => ({
  ...lookAtPlatforms(town),
  runs: await runsOf(town),
});

/** The state without the runs, which take a request each. */
export function lookAtPlatforms(town: Town): Omit<Outside, "runs"> {
  const slack = town.slack.snapshot();
  const github = town.github.snapshot();
  const reactions = new Map<string, readonly string[]>();
  const posts: Post[] = [];
  /** Direct messages of the bot's, by user id. */
  const direct = new Map<string, readonly string[]>();
  for (const { id, kind, members, messages } of slack.channels) {
    if (kind === "im") {
      const told = messages.filter(({ user }) => user === "UBOT").map(writtenIn);
      for (const user of members) direct.set(user, told);
      continue;
    }
    for (const message of messages) {
      const given = (message.reactions ?? []).filter(({ users }) => users.includes("UBOT"));
      reactions.set(
        `slack:message:${slack.team.id}:${id}:${message.ts}`,
        given.map(({ name }) => name),
      );
      if (message.user !== "UBOT") continue;
      const place = `slack:${slack.team.id}:${id}:${message.thread_ts ?? message.ts}`;
      posts.push(postOf(place, effectOf(message) ?? "", writtenIn(message)));
    }
  }
  for (const { id, user, issue, body, reactions: given } of github.comments) {
    const ours = given.filter((reaction) => reaction.user === github.bot);
    reactions.set(
      `github:comment:${id}`,
      ours.map(({ content }) => content),
    );
    if (user !== github.bot) continue;
    const marker = /^<!-- agent-runs-bot (\S+) -->/.exec(body)?.[1] ?? "";
    posts.push(postOf(placeOf(issue), decodeURIComponent(marker), body));
  }
  return {
    posts,
    reactions,
    labels: new Map(github.issues.map(({ number, labels }) => [placeOf(number), labels])),
    whispers: Object.fromEntries(
      slack.users.map(({ id }) => [
        id,
        [...(slack.ephemerals[id] ?? []).map(writtenIn), ...(direct.get(id) ?? [])],
      ]),
    ),
  };
}

/** Ids are `<cause>/<kind>/<number>`. */
function postOf(place: string, effect: string, text: string): Post {
  const [kind = ""] = effect.split("/").slice(-2);
  const cause = effect.slice(0, Math.max(0, effect.lastIndexOf(`/${kind}/`)));
  return { place, effect, cause, kind, text };
}

async function runsOf({ api, begunLog }: Town): Promise<readonly SeenRun[]> {
  const written = readFileSync(begunLog, "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const marks = (word: string, run: string) =>
    written.filter(([first, id]) => first === word && id === run).map(([, , mark = ""]) => mark);
  const found: SeenRun[] = [];
  for (const run of await api.runs()) {
    found.push({
      ...run,
      dispatch: run.metadata[dispatchKey] ?? "",
      begun: marks("begin", run.run_id),
      finished: marks("end", run.run_id),
      said: await api.said(run.run_id),
    });
  }
  return found;
}
