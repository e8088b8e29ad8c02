import type { Workspace } from "./workspace.ts";

const encoded = /(<(?:[@#!][^<>]+|https?:\/\/[^<>]+)>)/;

/**
 * Typed text as Slack puts it on the wire: `&`, `<` and `>` escaped; `@alice`, `#general`, `@channel` and
 * addresses between angle brackets. Text that is between them already stays as it is.
 */
export const typedText = (workspace: Workspace, typed: string): string =>
  typed
    .split(encoded)
    .map((part) => (encoded.test(part) ? part : encode(workspace, part)))
    .join("");

const encode = (workspace: Workspace, plain: string): string =>
  plain
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/https?:\/\/[^\s<>]+/g, (url) => `<${url}>`)
    .replaceAll(/@(channel|here|everyone)\b/g, "<!$1>")
    .replaceAll(/@([\w.-]*\w)/g, (mention, name: string) => {
      const user = workspace.user(name);
      return user === undefined ? mention : `<@${user.id}>`;
    })
    .replaceAll(/#([\w-]+)/g, (mention, name: string) => {
      const channel = workspace.channel(name);
      return channel === undefined ? mention : `<#${channel.id}|${channel.name}>`;
    });
