import type { PlatformKind, PlatformSettings } from "#ports.ts";
import { answerMs } from "./answer-time.ts";
import { readSlackSettings, type SlackSettings, slackVariables } from "./config.ts";

/** Describes Slack to the rest of the bot. */
export const slack: PlatformKind = {
  name: "slack",
  title: "Slack",
  variables: slackVariables,
  // https://docs.slack.dev/interactivity/handling-user-interaction#acknowledgment_response
  answerWithinMs: { "/slack/events": answerMs },
  toConnect: "SLACK_BOT_TOKEN, and SLACK_APP_TOKEN or SLACK_SIGNING_SECRET",
  facts: {
    hasStateLabels: false,
    help: [
      "Give me a command after `/agent` in a channel, or mention me and write it after my name. In a thread, mention me.",
    ],
  },
  people: {
    pattern: /^[UW][A-Z0-9]{2,}$/,
    advice: "write the member id, such as U0123ABCD, found in the person's profile",
  },
  scopes: {
    key: "channels",
    pattern: /^(T[A-Z0-9]+:)?[CDG][A-Z0-9]{2,}$/,
    advice: "write the channel's id, such as C0123ABCD, found at the end of the channel's details",
    scopeOf: (id) => `slack:${id}`,
  },
  read(environment) {
    const { settings, problems } = readSlackSettings(environment);
    return { settings: settings && settingsOf(settings), problems };
  },
};

const settingsOf = ({ receive, ...more }: SlackSettings): PlatformSettings => ({
  secrets: [more.botToken, receive.kind === "http" ? receive.signingSecret : receive.appToken],
  reached: (publicUrl) =>
    receive.kind === "socket" ? "Socket Mode" : `request URL ${publicUrl}/slack/events`,
  async open({ accept, log, clock }) {
    const { createSlackReceiver } = await import("#slack/receive/receive.ts");
    const { createSlackPlatform } = await import("#slack/send/send.ts");
    const { createSlackTime } = await import("#slack/slack-time.ts");
    const time = createSlackTime(clock);
    const { listener, ...receiver } = createSlackReceiver({ receive, ...more, accept, log, time });
    return {
      platform: createSlackPlatform({ ...more, log, clock, time }),
      routes: listener === undefined ? {} : { "POST /slack/events": listener },
      ...receiver,
    };
  },
});
