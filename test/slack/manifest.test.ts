import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { scopesOfEvents, scopesOfMethods, slashCommandScope } from "./required-scopes.ts";

const manifest = z.object({
  display_information: z.object({ long_description: z.string().min(174).max(4000) }),
  features: z.object({
    app_home: z.object({ messages_tab_enabled: z.boolean(), messages_tab_read_only_enabled: z.boolean() }),
    slash_commands: z.array(z.object({ command: z.string(), url: z.string() })),
  }),
  oauth_config: z.object({ scopes: z.object({ bot: z.array(z.string()) }) }),
  settings: z.object({
    event_subscriptions: z.object({ request_url: z.string(), bot_events: z.array(z.string()) }),
    interactivity: z.object({ is_enabled: z.boolean(), request_url: z.string() }),
    socket_mode_enabled: z.boolean(),
  }),
});

const root = new URL("../../", import.meta.url);
const readManifest = async () =>
  manifest.parse(parse(await readFile(new URL("manifests/slack.yaml", root), "utf8")));

/** Every Web API method that the adapter's source calls on a client. */
async function calledMethods(): Promise<readonly string[]> {
  const folder = new URL("src/slack/", root);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const sources = await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8")));
  const calls = sources.flatMap((source) => [
    ...source.matchAll(/\bclient\s*\.\s*((?:[a-zA-Z]+\s*\.\s*)+[a-zA-Z]+)\s*\(/g),
    ...source.matchAll(/\bclient\s*\.\s*(?:apiCall|paginate)\s*\(\s*["'`]([\w.]+)/g),
  ]);
  return calls.map(([, method = ""]) => method.replaceAll(/\s/g, ""));
}

const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort();

test("exactly the Web API methods that are called have scopes", async () => {
  expect(sorted(await calledMethods())).toEqual(sorted(Object.keys(scopesOfMethods)));
});

test("the manifest asks for exactly the scopes that methods, events and the command need", async () => {
  const needed = [
    ...Object.values(scopesOfMethods).flat(),
    ...Object.values(scopesOfEvents),
    slashCommandScope.scope,
  ];
  expect((await readManifest()).oauth_config.scopes.bot).toEqual(sorted(needed));
});

test("the manifest subscribes to exactly the events that are received", async () => {
  const { event_subscriptions } = (await readManifest()).settings;
  expect(event_subscriptions.bot_events).toEqual(sorted(Object.keys(scopesOfEvents)));
});

test("commands, events and buttons go to one path, and direct messages are open", async () => {
  const { features, settings } = await readManifest();
  expect(features.slash_commands.map(({ command }) => command)).toEqual([slashCommandScope.command]);
  const addresses = [
    ...features.slash_commands.map(({ url }) => url),
    settings.event_subscriptions.request_url,
    settings.interactivity.request_url,
  ];
  expect(new Set(addresses.map((address) => new URL(address).pathname))).toEqual(new Set(["/slack/events"]));
  expect(settings.interactivity.is_enabled).toBe(true);
  expect(settings.socket_mode_enabled).toBe(false);
  expect(features.app_home).toEqual({ messages_tab_enabled: true, messages_tab_read_only_enabled: false });
});
