/** GitHub's sending side: each effect becomes REST calls, each failure a fault. */
import type { Octokit } from "@octokit/rest";
import { reasonOf } from "#base/reason.ts";
import { remember } from "#base/remember.ts";
import {
  type CardEffect,
  idPrefix,
  type PlatformEffect,
  type ReplyEffect,
  type TellEffect,
  type TwinPostsEffect,
} from "#core/effect.ts";
import { type Fault, type Outcome, stillSettling } from "#core/outcome.ts";
import { type EffectId, type Place, placeAt } from "#core/place.ts";
import { createGitHubClient } from "#github/client.ts";
import { faultOf, hasStatus, impossible, isElsewhere, NotRepeated, searchFailed } from "#github/faults.ts";
import { type IssueRef, type PlaceRef, platformName, readComment, readPlace } from "#github/place.ts";
import { readHistory } from "#github/read/history.ts";
import { createMissed } from "#github/read/missed.ts";
import { isMarkedFrom, isMarkedWith } from "#github/understand/marker.ts";
import { createWhereabouts } from "#github/whereabouts.ts";
import type { Attempt } from "#ports.ts";
import {
  type CommentSearch,
  deleteOthers,
  editComment,
  findComments,
  postComment,
  roomBeside,
} from "./comments.ts";
import type { GitHubPlatform, GitHubPlatformOptions } from "./github-platform.ts";
import { createStateLabels } from "./labels.ts";
import { markdownOf } from "./markdown.ts";
import { paces } from "./paces.ts";
import { createPermissions } from "./permission.ts";

/** GitHub's lists lag behind its writes by seconds. */
const settlingMs = 60_000;

const reactions = { taken: "eyes", refused: "confused" } as const;

const failed = (fault: Fault): Outcome => ({ ok: false, fault });

/** Creates GitHub's sending side. */
export function createGitHubPlatform({
  auth,
  apiUrl,
  log,
  accept,
  now,
  elapsed,
  permissionTtlMs = 5 * 60_000,
  requestTimeoutMs = 20_000,
  publicUrl,
  fetch,
}: GitHubPlatformOptions): GitHubPlatform {
  const client = createGitHubClient({ auth, apiUrl, log, requestTimeoutMs, now, elapsed, fetch });
  const whereabouts = createWhereabouts({ client, now, elapsed });
  const identity = remember(client.askIdentity);
  const stateLabels = createStateLabels();
  const permissionIn = createPermissions(now, permissionTtlMs);
  const { missed, ...learning } = createMissed({
    client,
    identity: identity.known,
    log,
    now,
    elapsed,
    publicUrl,
  });

  const textOf = (effect: CardEffect | ReplyEffect | TellEffect): string =>
    markdownOf(effect.view, {
      maxLength: roomBeside(effect.id),
      ...(effect.kind === "tell" ? { to: effect.person } : {}),
    });

  /** Posts the effect's comment, or finds the one that an earlier try posted. */
  async function post(
    octokit: Octokit,
    issue: IssueRef,
    effect: CardEffect | ReplyEffect | TellEffect,
    { uncertain, settlesInMs }: Attempt,
  ): Promise<{ readonly id: number; readonly found: boolean }> {
    if (uncertain) {
      const [found] = await posted(octokit, issue, effect.id, effect.since, 1).catch((error: unknown) => {
        throw searchFailed(error, now());
      });
      if (found !== undefined) return { id: found, found: true };
      if (settlesInMs > 0) throw new NotRepeated(stillSettling(settlesInMs, effect.tries));
    }
    return { id: await postComment(octokit, issue, effect.id, textOf(effect)), found: false };
  }

  /** Returns the ids of at most `most` comments that the effect posted since its decision. */
  const posted = (octokit: Octokit, issue: IssueRef, effect: EffectId, since: string, most?: number) =>
    search(octokit, issue, (body) => isMarkedWith(body, effect), now() - Date.parse(since), most);

  /** Returns the ids of at most `most` of our comments; see `CommentSearch`. */
  async function search(
    octokit: Octokit,
    issue: IssueRef,
    isMeant: CommentSearch["isMeant"],
    ageMs: number,
    most = Number.POSITIVE_INFINITY,
  ): Promise<readonly number[]> {
    const { login } = await identity.known();
    const ids: number[] = [];
    for await (const id of findComments(octokit, issue, { isMeant, ageMs, login })) {
      ids.push(id);
      if (ids.length === most) break;
    }
    return ids;
  }

  /** Deletes the comments that an effect posted, except the one that stays. */
  async function endTwins(octokit: Octokit, issue: IssueRef, effect: TwinPostsEffect): Promise<Outcome> {
    const found = await posted(octokit, issue, effect.of, effect.postedSince);
    const { deleted, absent } = await deleteOthers(octokit, issue, found, Number(effect.message));
    for (const comment of deleted) {
      log.warn("A comment that was posted twice is deleted", { effect: effect.of, comment });
    }
    // Lists follow the issue to its new address, deletions do not.
    const ref = absent ? readPlace(effect.at) : null;
    const there = ref && (await whereabouts.findAgain(placeAt(effect.at), ref, issue));
    if (there !== null) return endTwins(await client.in(there), there, effect);
    return { ok: true, kind: "twin-posts", ended: deleted.map(String) };
  }

  async function card(
    octokit: Octokit,
    issue: IssueRef,
    effect: CardEffect,
    attempt: Attempt,
  ): Promise<Outcome> {
    const standing = effect.message === undefined ? null : readComment(effect.message);
    if (effect.message !== undefined && standing === null) {
      return failed(impossible(`${effect.message} is not a comment on GitHub.`));
    }
    const { id, found } =
      standing === null ? await post(octokit, issue, effect, attempt) : { id: standing, found: true };
    // A card that was found may show an older view.
    const message = found ? await editCard(octokit, issue, id, effect) : id;
    return {
      ok: true,
      kind: "card",
      revision: effect.revision,
      message: String(message),
      place: placeAt(effect.at),
    };
  }

  /** Edits the card; resolves with its id, which a transfer of the issue changes. */
  async function editCard(
    octokit: Octokit,
    issue: IssueRef,
    id: number,
    effect: CardEffect,
  ): Promise<number> {
    try {
      await editComment(octokit, issue, id, effect.id, textOf(effect));
      return id;
    } catch (error) {
      if (!hasStatus(error, 404)) throw error;
      const ofCard = idPrefix(effect.dispatch, "card");
      const isCard = (body: string): boolean => isMarkedFrom(body, ofCard);
      const [other] = await search(octokit, issue, isCard, Number.NEGATIVE_INFINITY, 1);
      if (other === undefined || other === id) throw error;
      await editComment(octokit, issue, other, effect.id, textOf(effect));
      return other;
    }
  }

  async function perform(
    octokit: Octokit,
    issue: IssueRef,
    effect: PlatformEffect,
    attempt: Attempt,
  ): Promise<Outcome> {
    switch (effect.kind) {
      case "card":
        return card(octokit, issue, effect, attempt);
      case "reply": {
        const { id } = await post(octokit, issue, effect, attempt);
        return { ok: true, kind: "reply", message: String(id) };
      }
      case "tell":
        // GitHub has no private messages: the person is mentioned instead.
        return { ok: true, kind: "tell", message: String((await post(octokit, issue, effect, attempt)).id) };
      case "react": {
        const comment_id = readComment(effect.message);
        if (comment_id === null) return failed(impossible(`${effect.message} is not a comment on GitHub.`));
        const { owner, repo } = issue;
        const content = reactions[effect.reaction];
        await octokit.rest.reactions.createForIssueComment({ owner, repo, comment_id, content });
        return { ok: true, kind: "react" };
      }
      case "label":
        await stateLabels.set(octokit, issue, effect.label, (await identity.known()).login);
        return { ok: true, kind: "label", revision: effect.revision };
      case "read": {
        const { login } = await identity.known();
        const except = effect.except === undefined ? null : readComment(effect.except);
        const history = await readHistory(octokit, issue, { until: effect.until, except, login });
        return { ok: true, kind: "read", ...history };
      }
      case "twin-posts":
        return endTwins(octokit, issue, effect);
      case "permission": {
        const permission = await permissionIn(octokit, issue, effect.person.id);
        return { ok: true, kind: "permission", permission };
      }
      default:
        return effect satisfies never;
    }
  }

  /** Has it saved that the place has another address, so that what people say there reaches its thread. */
  async function tellMoved(place: Place, there: IssueRef): Promise<void> {
    try {
      const event = await whereabouts.moved(place, there);
      if (event !== null) await accept?.(event);
    } catch (error) {
      log.warn("An issue's other address could not be saved", { place, reason: reasonOf(error) });
    }
  }

  /** Performs the effect where the place is now. */
  async function performThere(
    place: Place,
    ref: PlaceRef,
    effect: PlatformEffect,
    attempt: Attempt,
  ): Promise<Outcome> {
    const looking = <T>(search: Promise<T>): Promise<T> =>
      search.catch((error: unknown) => {
        throw attempt.uncertain ? searchFailed(error, now()) : error;
      });
    const issue = await looking(whereabouts.find(place, ref));
    try {
      return await perform(await looking(client.in(issue)), issue, effect, attempt);
    } catch (error) {
      const fault = faultOf(error, now());
      // The App may have been reinstalled.
      if ((fault.certainty === "refused" || fault.searching) && !fault.limited) client.forget(issue);
      if (!isElsewhere(error)) throw error;
      const there = await whereabouts.findAgain(place, ref, issue).catch((failure: unknown) => {
        throw faultOf(failure, now()).retryable ? failure : error;
      });
      if (there === null) throw error;
      log.info("An issue has another address", { place, ...there });
      await tellMoved(place, there);
      return perform(await client.in(there), there, effect, attempt);
    }
  }

  return {
    name: platformName,
    settlingMs,
    paces,
    identity: identity.known,
    intake: {
      isOwn: stateLabels.isOwn,
      learn(event) {
        whereabouts.learn(event);
        learning.learn(event);
      },
      heard: learning.heard,
    },
    missed: async (what) => (await missed(what)).filter((event) => !stateLabels.isOwn(event)),

    async perform(effect, attempt) {
      const ref = readPlace(effect.at);
      if (ref === null) {
        return failed(impossible("On GitHub the bot posts on issues and pull requests only."));
      }
      try {
        return await performThere(placeAt(effect.at), ref, effect, attempt);
      } catch (error) {
        const fault = faultOf(error, now());
        log.debug("An effect on GitHub failed", { effect: effect.id, kind: effect.kind, ...fault });
        return failed(fault);
      }
    },

    async check() {
      await identity.fresh().catch((error: unknown) => {
        throw new Error(faultOf(error, now()).reason, { cause: error });
      });
    },
  };
}
