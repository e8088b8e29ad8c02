/** The baseline: a Bolt app that only acknowledges one command. */
import { App, HTTPReceiver } from "@slack/bolt";
import { secrets } from "#bench/world/credentials.ts";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
const app = new App({
  receiver: new HTTPReceiver({ signingSecret: secrets.slackSigning, processBeforeResponse: true }),
  authorize: async () => ({ botToken: secrets.slackToken, botId: "B0SANDBOX", botUserId: "UBOT" }),
});
app.command("/agent", ({ ack }) => ack());
const server = await app.start({ host: "127.0.0.1", port: 0 });
const address = server.address();
process.stdout.write(
  `listens at http://127.0.0.1:${typeof address === "object" ? address?.port : "unknown"}\n`,
);
