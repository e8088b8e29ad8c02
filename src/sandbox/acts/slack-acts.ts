import { z } from "zod";
import type { SlackStandIn } from "#sandbox/slack/stand-in.ts";
import { type Act, act, failed, name, words } from "./acts.ts";

/** The acts in Slack, by the last part of their path. Channels are given by id, people by name. */
export function slackActs(slack: SlackStandIn): Readonly<Record<string, Act>> {
  function missing({ user, channel }: { user: string; channel: string }): string | null {
    const { users, channels } = slack.snapshot();
    if (!users.some((one) => !one.bot && one.name === user)) return `There is no ${user} in this workspace.`;
    return channels.some(({ id }) => id === channel) ? null : "There is no such channel.";
  }
  const hasMessage = (channel: string, ts: string): boolean =>
    slack
      .snapshot()
      .channels.some(({ id, messages }) => id === channel && messages.some((one) => one.ts === ts));

  const thread = z.string().max(40).optional();
  const say = act(z.object({ user: name, channel: name, text: words, thread }), missing, async (asked) => {
    const { user, channel, text, thread } = asked;
    if (thread !== undefined && !hasMessage(channel, thread)) return failed("That thread is gone.");
    const [command] = /^\/\S+/.exec(text) ?? [];
    if (command === undefined) {
      // If the bot is away, Slack repeats for minutes, which is too long to wait for.
      void slack.say({ user, channel, text, ...(thread === undefined ? {} : { thread }) });
      return { ok: true, status: null };
    }
    if (command !== "/agent") return failed(`${command} is not a command here. Try /agent help.`);
    if (thread !== undefined) {
      return failed(
        "Slack does not allow commands in threads. Reply without a command, or write @agent cancel.",
      );
    }
    const { status } = await slack.slash({ user, channel, text: text.slice(command.length).trim() });
    return { ok: true, status };
  });

  const press = act(
    z.object({
      user: name,
      channel: name,
      ts: z.string().max(40),
      action: name,
      /** The button's position among those with that action. */
      button: z.number().int().min(0).max(50).default(0),
    }),
    missing,
    async (asked) => {
      try {
        const { status } = await slack.press(asked);
        return { ok: true, status };
      } catch {
        // The card changed before the press.
        return failed("That button is gone.");
      }
    },
  );

  return { say, press };
}
