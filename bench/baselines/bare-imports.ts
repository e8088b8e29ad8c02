/** The baseline: a process that has loaded Bolt and Octokit, and does nothing. */
import { Octokit } from "@octokit/rest";
import { Webhooks } from "@octokit/webhooks";
import { App } from "@slack/bolt";
import { endWithParent } from "#bench/world/ground.ts";

endWithParent();
process.stdout.write(`loaded ${[App, Octokit, Webhooks].map(({ name }) => name).join(", ")}\n`);
