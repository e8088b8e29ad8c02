/** Comments on GitHub's issues. */
import type { PersonEvent } from "#core/event.ts";

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
