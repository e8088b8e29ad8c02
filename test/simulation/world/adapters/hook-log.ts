/** The log of the webhook that delivers to the bot, as GitHub's API shows it. */
import type { PersonEvent } from "#core/event.ts";
import type { ChatPlatform, DeliveryAttempt } from "#test/simulation/world/chat.ts";
import { saidBy } from "./comments.ts";

const guidOf = ({ event }: DeliveryAttempt): string => event.id.replace(/^github:delivery:/, "");

export const hooks = [
  { id: 1, active: true, config: { url: "https://bot.example/github/webhooks" }, events: ["issues"] },
];

export class HookLog {
  readonly #chat: ChatPlatform;

  constructor(chat: ChatPlatform) {
    this.#chat = chat;
  }

  /** The newest first, of those for whose time `isShown` is true. */
  list = (isShown: (at: string) => boolean): readonly object[] =>
    this.#chat.attempts
      .flatMap((attempt, index) => (isShown(attempt.at) ? [itemOf(attempt, index)] : []))
      .toReversed();

  /** One attempt with its payload; `issueOf` describes an issue. */
  one(id: string | undefined, issueOf: (number: number) => object): object | null {
    const attempt = this.#chat.attempts[Number(id) - 1];
    if (attempt === undefined) return null;
    const { event } = attempt;
    const issue = { ...issueOf(Number(event.place?.split("#")[1])), updated_at: event.at };
    const sender = { login: event.by.id };
    const repository = { id: 100, full_name: "octo/app" };
    const common = { issue, sender, repository };
    const payload =
      event.kind === "label"
        ? { action: "labeled", label: { name: event.label }, ...common }
        : { action: "created", comment: commentOf(event), ...common };
    return { ...itemOf(attempt, Number(id) - 1), request: { payload } };
  }

  /** Delivers it again, some time later. Returns false if there is no such attempt. */
  redeliver(id: string | undefined): boolean {
    const attempt = this.#chat.attempts[Number(id) - 1];
    if (attempt !== undefined) this.#chat.redeliver(attempt.event.id);
    return attempt !== undefined;
  }
}

const itemOf = (attempt: DeliveryAttempt, index: number): object => ({
  id: index + 1,
  guid: guidOf(attempt),
  delivered_at: attempt.at,
  redelivery: attempt.redelivery,
  status_code: attempt.ok ? 200 : 503,
  event: attempt.event.kind === "label" ? "issues" : "issue_comment",
  action: attempt.event.kind === "label" ? "labeled" : "created",
  repository_id: 100,
});

function commentOf(event: PersonEvent): object {
  const [said] = saidBy(event);
  return { id: said?.id, body: said?.body, created_at: event.at, user: { login: event.by.id } };
}
