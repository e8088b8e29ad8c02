/** Comments on GitHub's issues. */
import type { PersonEvent } from "#core/event.ts";
import type { ChatPlatform, Posted } from "#test/simulation/world/chat.ts";
import type { Posts } from "./posts.ts";
import type { Cause } from "./wire.ts";

/** The bot's account. */
export const botLogin = "agent-bot";

/** A comment that exists; times in RFC 3339. */
export interface Listed {
  readonly id: number;
  readonly issue: number;
  readonly login: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The machine's time, of the bot's own. */
  readonly madeAt?: number;
}

/** What the wire shows of one of the bot's comments. */
interface Wire {
  body: string;
  readonly createdAt: string;
  updatedAt: string;
}

export class Comments {
  readonly #chat: ChatPlatform;
  readonly #posts: Posts;
  readonly #wires = new Map<Posted, Wire>();

  constructor(chat: ChatPlatform, posts: Posts) {
    this.#chat = chat;
    this.#posts = posts;
  }

  add = (posted: Posted, body: string, at: string): void =>
    void this.#wires.set(posted, { body, createdAt: at, updatedAt: at });

  /** The bot's comment with this id. */
  own = (id: string): readonly [Posted, Wire] | undefined =>
    [...this.#wires].find(([posted]) => posted.id === id && posted.deletedAt === null);

  /** Every comment that exists, oldest first. */
  all(): readonly Listed[] {
    const people = this.#chat.readable.flatMap(({ event }) => saidBy(event));
    const ours = [...this.#wires].flatMap(([{ id, place, deletedAt, at: madeAt }, wire]) =>
      deletedAt === null
        ? [{ id: Number(id), issue: Number(place.split("#")[1]), login: botLogin, madeAt, ...wire }]
        : [],
    );
    return [...people, ...ours].sort((one, other) => one.id - other.id);
  }

  find = (id: string): Listed | undefined => this.all().find((one) => String(one.id) === id);

  /** What one copy shows, which may lag. */
  listed(cause: Cause): readonly Listed[] {
    const isShown = this.#posts.copy(cause);
    return this.all().filter(({ createdAt, madeAt }) =>
      isShown(madeAt ?? Date.parse(createdAt), madeAt !== undefined),
    );
  }
}

/** A comment as the API shows it. */
export const shownOf = ({ id, issue, login, body, createdAt, updatedAt }: Listed): object => ({
  id,
  body,
  user: { login, type: login.endsWith("[bot]") ? "Bot" : "User" },
  created_at: createdAt,
  updated_at: updatedAt,
  issue_url: `https://api.github.com/repos/octo/app/issues/${issue}`,
});

/** The comment that holds a person's words; none if the event is no comment. */
export function saidBy(event: PersonEvent): readonly Listed[] {
  if ((event.kind !== "reply" && event.kind !== "command") || event.message === undefined) return [];
  const { message, by, text, at, place } = event;
  const issue = Number(place?.split("#")[1]);
  const isMention = event.kind === "reply" && event.mention;
  const body = event.kind === "command" ? `/agent ${text}` : `${isMention ? `@${botLogin} ` : ""}${text}`;
  return [{ id: Number(message), issue, login: by.id, body, createdAt: at, updatedAt: at }];
}
