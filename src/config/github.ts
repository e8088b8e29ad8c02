import { createPrivateKey } from "node:crypto";
import type { Environment, Name } from "./environment.ts";

/** The text of a file, null if there is none; throws if it can't be read. */
export type ReadFile = (path: string) => string | null;

export interface GitHubConfig {
  readonly webhookSecret: string;
  readonly credentials:
    | { readonly kind: "token"; readonly token: string }
    /** `privateKey` in PEM form (PKCS #8). */
    | { readonly kind: "app"; readonly appId: string; readonly privateKey: string };
  /** Without a slash at its end; absent: github.com. */
  readonly apiUrl?: string;
}

const app = "https://github.com/settings/apps → your app";

/**
 * The GitHub credentials; null without any. What is missing is added to `problems`. `ambient`: a workflow or a
 * codespace sets GITHUB_TOKEN and GITHUB_API_URL by itself, so that they alone ask for nothing.
 */
export function readGitHub(
  values: Environment,
  isSet: (name: Name) => boolean,
  ambient: boolean,
  readFile: ReadFile,
  problems: string[],
): GitHubConfig | null {
  const asking: Name[] = ["GITHUB_WEBHOOK_SECRET", "GITHUB_APP_ID", "GITHUB_PRIVATE_KEY"];
  if (!ambient) asking.push("GITHUB_TOKEN", "GITHUB_API_URL");
  if (!asking.some(isSet)) return null;

  const withApp = isSet("GITHUB_APP_ID") || isSet("GITHUB_PRIVATE_KEY");
  if (withApp && isSet("GITHUB_TOKEN") && !ambient) {
    problems.push(
      "GITHUB_TOKEN is set beside a GitHub App: unset it, or GITHUB_APP_ID and GITHUB_PRIVATE_KEY.",
    );
  }
  if (withApp && !isSet("GITHUB_APP_ID")) {
    problems.push(`GITHUB_APP_ID is missing: copy the App ID from ${app} → About.`);
  }
  if (withApp && !isSet("GITHUB_PRIVATE_KEY")) {
    problems.push(
      `GITHUB_PRIVATE_KEY is missing: generate a key at ${app} → Private keys, and give its path.`,
    );
  }
  if (!withApp && !isSet("GITHUB_TOKEN")) {
    const where = "https://github.com/settings/personal-access-tokens";
    problems.push(
      `GITHUB_TOKEN is missing: make one at ${where}, or set GITHUB_APP_ID and GITHUB_PRIVATE_KEY.`,
    );
  }
  if (!isSet("GITHUB_WEBHOOK_SECRET")) {
    const where = withApp ? `${app} → Webhook` : "your repository → Settings → Webhooks";
    problems.push(
      `GITHUB_WEBHOOK_SECRET is missing: choose a long random text and enter it here and at ${where}.`,
    );
  }
  const privateKey = readKey(values.GITHUB_PRIVATE_KEY, readFile, problems);
  const credentials = readCredentials(values, withApp, privateKey);
  if (credentials === null || values.GITHUB_WEBHOOK_SECRET === undefined) return null;
  return {
    webhookSecret: values.GITHUB_WEBHOOK_SECRET,
    credentials,
    ...(values.GITHUB_API_URL === undefined ? {} : { apiUrl: values.GITHUB_API_URL }),
  };
}

function readCredentials(values: Environment, withApp: boolean, privateKey: string | null) {
  const { GITHUB_TOKEN: token, GITHUB_APP_ID: appId } = values;
  if (!withApp) return token === undefined ? null : ({ kind: "token", token } as const);
  return appId === undefined || privateKey === null ? null : ({ kind: "app", appId, privateKey } as const);
}

/** The key itself, its line breaks perhaps written as `\n`, or the path of the file that holds it. */
function readKey(given: string | undefined, readFile: ReadFile, problems: string[]): string | null {
  if (given === undefined) return null;
  let pem: string | null = given.replaceAll("\\n", "\n");
  if (!given.includes("-----BEGIN")) {
    try {
      pem = readFile(given);
    } catch {
      problems.push("GITHUB_PRIVATE_KEY names a file that can't be read: check its permissions.");
      return null;
    }
  }
  if (pem === null) {
    problems.push(
      "GITHUB_PRIVATE_KEY is neither a private key in PEM form nor the path of a file that exists.",
    );
    return null;
  }
  try {
    return createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }).toString();
  } catch {
    problems.push(
      `GITHUB_PRIVATE_KEY is not a whole private key in PEM form: use the .pem file from ${app}.`,
    );
    return null;
  }
}
