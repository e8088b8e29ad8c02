/** Each Web API method that the bot calls, with the scopes it needs. */
export const scopesOfMethods = {
  "auth.test": [],
  "chat.postMessage": ["chat:write"],
  "chat.update": ["chat:write"],
  "chat.delete": ["chat:write"],
  "chat.postEphemeral": ["chat:write"],
  "reactions.add": ["reactions:write"],
  "conversations.replies": ["channels:history", "groups:history", "im:history", "mpim:history"],
  "users.conversations": ["channels:read", "groups:read", "im:read", "mpim:read"],
  "conversations.history": ["channels:history", "groups:history", "im:history", "mpim:history"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** Each event that the bot receives, with the scope it needs. */
export const scopesOfEvents = {
  app_mention: "app_mentions:read",
  "message.channels": "channels:history",
  "message.groups": "groups:history",
  "message.im": "im:history",
  "message.mpim": "mpim:history",
} as const;

/** The slash command and the scope it needs. */
export const slashCommandScope = { command: "/agent", scope: "commands" } as const;
