/** Reads back a repository's comments and labels where the bot may not see which deliveries failed. */
import type { Octokit } from "@octokit/rest";
import type { z } from "zod";
import type { PersonEvent } from "#core/event.ts";
import type { Repo } from "#github/place.ts";
import {
  type IssuePayload,
  issue,
  issueEvent,
  type ListedComment,
  listedComment,
  type RepositoryPayload,
} from "#github/understand/payload.ts";
import { type AskIdentity, commentEvent, type Identity, labelEvent } from "#github/understand/translate.ts";
import { newestFirst, type Recent, secondOf } from "./newest-first.ts";

/** Where and since when to read back. */
export interface ReadBack {
  readonly octokit: Octokit;
  readonly repo: Repo;
  readonly where: RepositoryPayload;
  /** Milliseconds since the epoch. */
  readonly sinceMs: number;
  readonly identity: AskIdentity;
  /** Whether the event with this id was delivered and taken in. */
  readonly wasHeard: (eventId: string) => boolean;
}

const isEdited = ({ created_at, updated_at }: ListedComment): boolean => created_at !== updated_at;

/**
 * Returns the comments and labels since then as events, oldest first. A comment has the same id as in its
 * delivery; a label can't, and is marked as recovered. Rejects as requests do.
 */
export async function readBack(look: ReadBack): Promise<Recent<PersonEvent>> {
  const { octokit, repo, where, sinceMs } = look;
  const { listForRepo, listCommentsForRepo, listEventsForRepo } = octokit.rest.issues;
  const all = { ...repo, per_page: 100 };
  // GitHub does not document whether the second of `since` itself is included.
  const since = new Date(secondOf(sinceMs) - 1000).toISOString();
  const changed = await newestFirst(
    octokit.paginate.iterator(listForRepo, {
      ...all,
      since,
      state: "all",
      sort: "updated",
      direction: "desc",
    }),
    issue,
    ({ updated_at }) => Date.parse(updated_at),
    sinceMs,
  );
  // A comment or a label would have updated its issue.
  if (changed.items.length === 0) return { items: [], complete: changed.complete };
  const issues = new Map(changed.items.map((item) => [item.number, item]));
  const createdAt = ({ created_at }: { readonly created_at: string }): number => Date.parse(created_at);
  const comments = await newestFirst(
    octokit.paginate.iterator(listCommentsForRepo, { ...all, since, sort: "created", direction: "desc" }),
    listedComment,
    createdAt,
    sinceMs,
  );
  const happened = await newestFirst(
    octokit.paginate.iterator(listEventsForRepo, all),
    issueEvent,
    createdAt,
    sinceMs,
  );
  const us = await look.identity();
  const events = [
    ...comments.items.flatMap((comment) => commented(comment, issues, look, where, us)),
    ...happened.items.flatMap((one) => labeled(one, issues, where, us)),
  ];
  return {
    items: inOrder(events),
    complete: changed.complete && comments.complete && happened.complete,
  };
}

type Issues = ReadonlyMap<number, IssuePayload>;

function commented(
  comment: ListedComment,
  issues: Issues,
  look: ReadBack,
  where: RepositoryPayload,
  us: Identity,
): PersonEvent[] {
  const about = issues.get(Number(/\/issues\/(\d+)$/.exec(comment.issue_url)?.[1]));
  // Its author or its issue was deleted.
  if (!comment.user || about === undefined) return [];
  const event = commentEvent({ issue: about, comment, repository: where, sender: comment.user }, us);
  // An edit of a comment that was already taken in is ignored.
  return isEdited(comment) && look.wasHeard(event.id) ? [] : [event];
}

function labeled(
  { id, event, created_at, actor, label, issue: listed }: z.infer<typeof issueEvent>,
  issues: Issues,
  where: RepositoryPayload,
  us: Identity,
): PersonEvent[] {
  const about = listed ?? undefined;
  if (event !== "labeled" || !actor || !label || about === undefined) return [];
  const payload = {
    issue: issues.get(about.number) ?? about,
    label,
    repository: where,
    sender: actor,
  };
  const delivered = labelEvent(payload, "", us);
  return [{ ...delivered, id: `github:labeled:${id}`, at: created_at, recovered: true }];
}

/** Comments have rising ids; a label comes after the comments of the same second. */
const rankOf = (event: PersonEvent): number => ("message" in event ? Number(event.message) : Infinity);

/**
 * Sorts by time. GitHub's times are whole seconds. A reply before a request in the same second belongs to the
 * request's context and is not a follow-up, so it is dated a millisecond earlier.
 */
function inOrder(events: readonly PersonEvent[]): readonly PersonEvent[] {
  const sorted = events.toSorted(
    (one, other) => Date.parse(one.at) - Date.parse(other.at) || rankOf(one) - rankOf(other) || 0,
  );
  const momentOf = ({ place, at }: PersonEvent): string => `${place} ${at}`;
  const lastRequests = new Map<string, number>();
  for (const [index, event] of sorted.entries()) if (asks(event)) lastRequests.set(momentOf(event), index);
  return sorted.map((event, index) =>
    asks(event) || index > (lastRequests.get(momentOf(event)) ?? -1)
      ? event
      : { ...event, at: new Date(Date.parse(event.at) - 1).toISOString() },
  );
}

const asks = (event: PersonEvent): boolean => !event.by.bot && (event.kind !== "reply" || event.mention);
