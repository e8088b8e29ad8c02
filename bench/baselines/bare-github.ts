/** The baseline: Octokit's webhook handler with a listener that does nothing. */
import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { secrets } from "#bench/world/credentials.ts";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
const webhooks = new Webhooks({ secret: secrets.githubWebhook });
webhooks.on("issues.labeled", () => {});
const server = createServer(createNodeMiddleware(webhooks));
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(
    `listens at http://127.0.0.1:${typeof address === "object" ? address?.port : "unknown"}\n`,
  );
});
