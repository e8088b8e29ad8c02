/** A small Slack at the level of its wire: the Web API and response URLs, over the simulated chat. */
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import type { Machine } from "#test/simulation/world/machine.ts";
import { Posts } from "./posts.ts";
import { botId, botUser, type Listed, SlackMessages, threadOf } from "./slack-messages.ts";
import { viewInBlocks } from "./slack-view.ts";
import { type Answered, type Asked, aProxy, type Cause, type WireApi } from "./wire.ts";

const team = "T1";
/** Apps outside the Marketplace get so many messages on a page, and a page a minute. */
const restricted = { pageSize: 15, everyMs: 60_000 };
/** Responses that a response URL takes. */
const mostResponses = 5;
const reactions: Readonly<Record<string, string>> = { eyes: "taken", no_entry: "refused" };

type Params = Readonly<Record<string, string>>;
type Method = (params: Params, cause: Cause) => object;

class Refusal extends Error {}

export class SlackApi implements WireApi {
  readonly name = "slack";
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #posts: Posts;
  readonly #random: Random;
  readonly #messages: SlackMessages;
  readonly #isRestricted: boolean;
  readonly #readAt = new Map<string, number>();
  readonly #responses = new Map<string, number>();
  readonly #methods: Readonly<Record<string, Method>>;

  constructor(machine: Machine, chat: ChatPlatform) {
    this.#machine = machine;
    this.#chat = chat;
    this.#posts = new Posts(machine, chat);
    this.#messages = new SlackMessages(chat, this.#posts);
    this.#random = createRandom(machine.seed, "slack");
    // A long round of reading back is not waited for.
    this.#isRestricted =
      machine.weather.catchUpMs === null && createRandom(machine.seed, "marketplace").chance(0.2);
    this.#methods = {
      "auth.test": () => ({ team_id: team, user_id: botUser, bot_id: botId }),
      "users.conversations": () => ({ channels: [{ id: "C1" }] }),
      "conversations.history": (params, cause) => this.#history(params, cause),
      "conversations.replies": (params, cause) => this.#replies(params, cause),
      "chat.postMessage": (params, cause) => this.#post(params, cause),
      "chat.update": (params, cause) => this.#update(params, cause),
      "chat.delete": (params, cause) => this.#delete(params, cause),
      "chat.postEphemeral": (params, cause) => this.#whisper(params, cause),
      "reactions.add": (params, cause) => this.#react(params, cause),
    };
  }

  makes = ({ url }: Asked): boolean => url.pathname.endsWith("/chat.postMessage");
  edits = ({ url }: Asked): boolean => url.pathname.endsWith("/chat.update");

  broken({ url }: Asked): Answered {
    const status = this.#random.pick([200, 200, 200, 500, 503]);
    if (status > 200 || !url.pathname.startsWith("/api/")) return { status: Math.max(status, 500), json: {} };
    if (this.#random.chance(0.2)) return aProxy;
    return { status, json: { ok: false, error: this.#random.pick(["internal_error", "fatal_error"]) } };
  }

  tooMany = (retryAfterMs: number): Answered => ({
    status: 429,
    json: { ok: false, error: "ratelimited" },
    headers: { "retry-after": String(retryAfterMs / 1_000) },
  });

  serve({ url, body }: Asked, cause: Cause): Answered {
    if (!url.pathname.startsWith("/api/")) return this.#respond(url.href, JSON.parse(body), cause);
    const waitMs = this.#mustWait(url.pathname);
    if (waitMs > 0) return this.tooMany(1_000 * Math.ceil(waitMs / 1_000));
    const params = Object.fromEntries(new URLSearchParams(body));
    try {
      const does = this.#methods[url.pathname.slice("/api/".length)];
      if (does === undefined) throw new Refusal("unknown_method");
      return { status: 200, json: { ok: true, ...does(params, cause) } };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { status: 200, json: { ok: false, error: error.message } };
    }
  }

  /** How long the method may not read. */
  #mustWait(method: string): number {
    const { nowMs } = this.#machine.time;
    if (!this.#isRestricted || this.#machine.healed || !method.startsWith("/api/conversations.")) return 0;
    const waitMs = (this.#readAt.get(method) ?? Number.NEGATIVE_INFINITY) + restricted.everyMs - nowMs;
    if (waitMs <= 0) this.#readAt.set(method, nowMs);
    return waitMs;
  }

  #channel({ channel = "" }: Params): string {
    const scope = `slack:${team}:${channel}`;
    if (this.#chat.isShut(scope)) throw new Refusal("not_in_channel");
    return scope;
  }

  #post(params: Params, cause: Cause): object {
    const channel = this.#channel(params);
    const { text = "", thread_ts, blocks = "[]", metadata = "{}" } = params;
    if (thread_ts !== undefined && !this.#messages.all().some(({ ts }) => ts === thread_ts))
      throw new Refusal("thread_not_found");
    const parsed = JSON.parse(blocks);
    const carried = JSON.parse(metadata);
    const posted = this.#posts.add(
      carried.event_payload?.effect ?? "nothing",
      (id) => `${channel}:${thread_ts ?? id}`,
      viewInBlocks(parsed),
      cause,
    );
    this.#messages.add(posted, { blocks: parsed, text, metadata: carried });
    this.#posts.happened(cause);
    return { channel: params.channel, ts: posted.id };
  }

  #own({ ts }: Params) {
    const found = this.#messages.own(ts);
    if (found === undefined) throw new Refusal("message_not_found");
    return found;
  }

  #update(params: Params, cause: Cause): object {
    this.#channel(params);
    const [posted, wire] = this.#own(params);
    const { text = "", blocks = "[]", metadata } = params;
    wire.blocks = JSON.parse(blocks);
    wire.text = text;
    wire.edited = true;
    if (metadata !== undefined) wire.metadata = JSON.parse(metadata);
    // A twin that stays is marked, and no run is told there.
    if (cause.effect?.kind === "twin-posts") this.#posts.remove(posted);
    else this.#posts.edit(posted, viewInBlocks(wire.blocks));
    this.#posts.happened(cause);
    return { channel: params.channel, ts: posted.id };
  }

  #delete(params: Params, cause: Cause): object {
    this.#channel(params);
    const [posted, wire] = this.#own(params);
    wire.gone = true;
    this.#posts.remove(posted);
    this.#posts.happened(cause);
    return {};
  }

  #whisper(params: Params, cause: Cause): object {
    const channel = this.#channel(params);
    const place = params.thread_ts === undefined ? channel : `${channel}:${params.thread_ts}`;
    this.#posts.add(null, () => place, viewInBlocks(JSON.parse(params.blocks ?? "[]")), cause);
    this.#posts.happened(cause);
    return {};
  }

  #respond(url: string, { blocks }: { blocks?: unknown }, cause: Cause): Answered {
    const responses = (this.#responses.get(url) ?? 0) + 1;
    if (responses > mostResponses) return { status: 404, json: {} };
    this.#responses.set(url, responses);
    this.#posts.add(null, () => cause.effect?.at ?? "", viewInBlocks(blocks), cause);
    this.#posts.happened(cause);
    return { status: 200, json: { ok: true } };
  }

  #react(params: Params, cause: Cause): object {
    this.#channel(params);
    const { timestamp = "", name = "" } = params;
    if (!this.#messages.all().some(({ ts }) => ts === timestamp)) throw new Refusal("message_not_found");
    const reaction = reactions[name] ?? name;
    const given = this.#chat.reactions.get(timestamp) ?? new Set();
    if (given.has(reaction)) throw new Refusal("already_reacted");
    this.#chat.reactions.set(timestamp, given.add(reaction));
    this.#posts.happened(cause);
    return {};
  }

  #history(params: Params, cause: Cause): object {
    this.#channel(params);
    const listed = this.#messages.listed(cause);
    const roots = listed.filter((one) => one.ts === one.threadTs && isWithin(one, params)).toReversed();
    const { cursor = "" } = params;
    const rest = cursor === "" ? roots : roots.filter(({ ts }) => Number(ts) < Number(cursor));
    return this.#page(
      params,
      rest.map((root) => ({ ...root, shown: { ...root.shown, ...threadOf(root, listed) } })),
    );
  }

  #replies(params: Params, cause: Cause): object {
    this.#channel(params);
    const listed = this.#messages.listed(cause);
    const asked = listed.find(({ ts }) => ts === params.ts);
    const root = listed.find(({ ts }) => ts === asked?.threadTs);
    if (root === undefined) throw new Refusal("thread_not_found");
    const inThread = listed.filter(
      (one) => one.threadTs === root.ts && one !== root && isWithin(one, params),
    );
    const { cursor = "" } = params;
    const rest = cursor === "" ? inThread : inThread.filter(({ ts }) => Number(ts) > Number(cursor));
    const replies = rest.map((one) => ({
      ...one,
      shown: { ...one.shown, thread_ts: root.ts, parent_user_id: root.shown.user },
    }));
    // Slack adds the first message to each page.
    return this.#page(params, replies, { ...root.shown, ...threadOf(root, listed) });
  }

  #page({ limit = "100" }: Params, rest: readonly Listed[], first?: object): object {
    const { pageSize } = this.#machine.weather;
    const most = this.#isRestricted ? restricted.pageSize : 200;
    const size = Math.min(Number(limit), pageSize < 500 ? 3 * pageSize : most);
    const items = rest.slice(0, size);
    const next = rest.length > size ? (items.at(-1)?.ts ?? "") : "";
    const messages = [...(first === undefined ? [] : [first]), ...items.map(({ shown }) => shown)];
    return { messages, has_more: next !== "", response_metadata: { next_cursor: next } };
  }
}

function isWithin({ ts }: Listed, { oldest = "0", latest = "" }: Params): boolean {
  const at = Number(ts);
  return at >= Number(oldest) && (latest === "" || at <= Number(latest));
}
