/** GitHub's webhook payloads as the core's events. Pure: nothing is requested or decided here. */
import { stateLabels } from "#core/effect.ts";
import type { CommandEvent, LabelEvent, MovedEvent, ReplyEvent } from "#core/event.ts";
import type { Person, Subject } from "#core/person.ts";
import { formerPlaceOf, placeOf, platformName, scopeOf } from "#github/place.ts";
import { findCommand } from "./command-line.ts";
import { hasMarker } from "./marker.ts";
import { takeMention } from "./mention.ts";
import type { Account, Commented, IssuePayload, Labeled, RepositoryPayload, Transferred } from "./payload.ts";
import { visibleText } from "./visible-text.ts";

/** The bot's identity on GitHub. */
export interface Identity {
  /** Login under which its comments appear: `octocat`, or `my-app[bot]`. */
  readonly login: string;
  /** The name after `@` in a mention of the bot. */
  readonly mention: string;
}

/** Resolves with the bot's identity. Rejects as requests do. */
export type AskIdentity = () => Promise<Identity>;

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

function personOf({ login, type }: Account, ours: boolean): Person {
  const bot = ours || type === "Bot" || login.endsWith("[bot]");
  return { platform: platformName, id: login, name: login, bot, permission: "unknown" };
}

const subjectOf = (issue: IssuePayload): Subject => ({
  title: issue.title,
  body: visibleText(issue.body ?? ""),
  url: issue.html_url,
  author: issue.user?.login ?? "ghost",
  ...(issue.pull_request ? { pullRequest: true } : {}),
  ...(issue.locked ? { locked: true } : {}),
});

/** Returns the fields of an event in the issue. */
function whereOf({ id, full_name }: RepositoryPayload, number: number) {
  const former = formerPlaceOf(full_name, number);
  const place = id ? placeOf(id, number) : former;
  return { scope: scopeOf(full_name), place, formerPlaces: id ? [former] : [] };
}

const isStateLabel = (name: string): boolean => stateLabels.some((label) => same(label, name));

/** Whether the event depends on the bot's own login. */
export const needsIdentity = {
  labeled: ({ label }: Labeled): boolean => isStateLabel(label.name),
  commented: ({ comment }: Commented): boolean =>
    hasMarker(comment.body ?? "") || (comment.body ?? "").includes("@"),
};

/** Returns the event of a label. `delivery`: the X-GitHub-Delivery GUID, the same in a redelivery. */
export function labelEvent(payload: Labeled, delivery: string, us: Identity | null): LabelEvent {
  const { issue, label, repository, sender } = payload;
  // With a person's token the bot's state labels appear to come from that person.
  const ours = us !== null && same(sender.login, us.login) && isStateLabel(label.name);
  return {
    kind: "label",
    id: `github:delivery:${delivery}`,
    at: issue.updated_at,
    by: personOf(sender, ours),
    ...whereOf(repository, issue.number),
    label: label.name,
    subject: subjectOf(issue),
  };
}

/** Returns the event of a comment: a command if it has an `/agent` line, otherwise a reply. */
export function commentEvent(payload: Commented, us: Identity | null): CommandEvent | ReplyEvent {
  const { issue, comment, repository, sender } = payload;
  const body = comment.body ?? "";
  const author = comment.user ?? sender;
  const ours = us !== null && hasMarker(body) && same(author.login, us.login);
  const common = {
    id: `github:comment:${comment.id}`,
    at: comment.created_at,
    by: personOf(author, ours),
    ...whereOf(repository, issue.number),
    message: String(comment.id),
    subject: subjectOf(issue),
  };
  const shown = visibleText(body);
  const command = findCommand(shown);
  if (command !== null) return { kind: "command", ...common, text: command };
  const { mention, text } = us === null ? { mention: false, text: shown } : takeMention(shown, us.mention);
  return { kind: "reply", ...common, text, mention, first: false, underOurs: false };
}

/** Returns the event of a transfer. `delivery` as for a label. */
export function movedEvent(
  { issue, changes, repository, sender }: Transferred,
  delivery: string,
): MovedEvent {
  const old = whereOf(repository, issue.number);
  return {
    kind: "moved",
    id: `github:delivery:${delivery}`,
    at: issue.updated_at,
    by: personOf(sender, false),
    ...whereOf(changes.new_repository, changes.new_issue.number),
    formerPlaces: [old.place, ...old.formerPlaces],
  };
}
