import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { apiAddress, readVariables } from "#config/variables.ts";
import type { Given, ReadFile } from "#ports.ts";

/** The GitHub credentials from the environment. */
export interface GitHubSettings {
  /** One secret, or several separated by commas while the secret is being changed. */
  readonly webhookSecret: string;
  readonly credentials:
    | { readonly kind: "token"; readonly token: string }
    /** `privateKey` in PEM form (PKCS #8). */
    | { readonly kind: "app"; readonly appId: string; readonly privateKey: string };
  /** Without a slash at its end; absent: github.com. */
  readonly apiUrl?: string;
}

const app = "https://github.com/settings/apps → your app";

const variables = {
  GITHUB_WEBHOOK_SECRET: z
    .string()
    .regex(/[^,\s]/, "is nothing but commas")
    .optional(),
  GITHUB_TOKEN: z
    .string()
    .refine((value) => !value.includes("PRIVATE KEY"), "holds the value for GITHUB_PRIVATE_KEY")
    .optional(),
  GITHUB_APP_ID: z
    .string()
    .regex(
      /^(\d+|Iv\w+(\.\w+)?)$/,
      "must be the App ID, a number: copy it from https://github.com/settings/apps → your app → About",
    )
    .optional(),
  GITHUB_PRIVATE_KEY: z.string().optional(),
  GITHUB_API_URL: apiAddress
    .refine(
      (url) => !/^(www\.)?github\.com$/.test(new URL(url).hostname),
      "is the address of GitHub's pages and not of its API: unset it, since github.com is the default",
    )
    .optional(),
};

/** The names of the environment variables that are read here. */
export const gitHubVariables = Object.keys(variables);

/** GitHub Actions and Codespaces set GITHUB_TOKEN and GITHUB_API_URL by themselves. */
const isAmbient = ({ GITHUB_ACTIONS, CODESPACES }: Given): boolean =>
  GITHUB_ACTIONS === "true" || CODESPACES === "true";

/** Reads the GitHub credentials. `settings` is null if none are set or there are problems, in sentences for people. */
export function readGitHubSettings(
  environment: Given,
  readFile: ReadFile,
): { readonly settings: GitHubSettings | null; readonly problems: readonly string[] } {
  const { values, isSet, problems } = readVariables(variables, environment);
  const withApp = isSet("GITHUB_APP_ID") || isSet("GITHUB_PRIVATE_KEY");
  const withToken = isSet("GITHUB_TOKEN") && !isAmbient(environment);
  const withUrl = isSet("GITHUB_API_URL") && !isAmbient(environment);
  if (!withApp && !withToken && !withUrl && !isSet("GITHUB_WEBHOOK_SECRET")) {
    return { settings: null, problems };
  }
  if (withApp && withToken) {
    problems.push(
      "GITHUB_TOKEN is set beside a GitHub App: unset it, or GITHUB_APP_ID and GITHUB_PRIVATE_KEY.",
    );
  }
  const need = (name: keyof typeof variables, advice: string): void => {
    if (!isSet(name)) problems.push(`${name} is missing: ${advice}.`);
  };
  if (withApp) {
    need("GITHUB_APP_ID", `copy the App ID from ${app} → About`);
    need("GITHUB_PRIVATE_KEY", `generate a key at ${app} → Private keys, and give its path`);
  } else {
    const page = "https://github.com/settings/personal-access-tokens";
    need("GITHUB_TOKEN", `make one at ${page}, or set GITHUB_APP_ID and GITHUB_PRIVATE_KEY`);
  }
  const hooks = withApp ? `${app} → Webhook` : "your repository → Settings → Webhooks";
  need("GITHUB_WEBHOOK_SECRET", `choose a long random text and enter it here and at ${hooks}`);
  const { GITHUB_TOKEN: token, GITHUB_APP_ID: appId, GITHUB_WEBHOOK_SECRET: webhookSecret } = values;
  const key = readKey(values.GITHUB_PRIVATE_KEY, readFile);
  if (key?.ok === false) problems.push(`GITHUB_PRIVATE_KEY ${key.problem}.`);
  const ofToken = token === undefined ? null : ({ kind: "token", token } as const);
  const ofApp = appId && key?.ok ? ({ kind: "app", appId, privateKey: key.pem } as const) : null;
  const credentials = withApp ? ofApp : ofToken;
  if (credentials === null || webhookSecret === undefined || problems.length > 0) {
    return { settings: null, problems };
  }
  const apiUrl = values.GITHUB_API_URL === undefined ? {} : { apiUrl: values.GITHUB_API_URL };
  return { settings: { webhookSecret, credentials, ...apiUrl }, problems };
}

type KeyReading =
  | { readonly ok: true; readonly pem: string }
  | { readonly ok: false; readonly problem: string };

/** `given`: the key, perhaps with its line breaks written as `\n`, or the path of the file that holds it. */
function readKey(given: string | undefined, readFile: ReadFile): KeyReading | null {
  if (given === undefined) return null;
  let pem: string | null = given.replaceAll("\\n", "\n");
  if (!given.includes("-----BEGIN")) {
    try {
      pem = readFile(given);
    } catch {
      return { ok: false, problem: "names a file that can't be read: check its permissions" };
    }
  }
  if (pem === null) {
    return { ok: false, problem: "is neither a private key in PEM form nor the path of a file that exists" };
  }
  try {
    return { ok: true, pem: createPrivateKey(pem).export({ type: "pkcs8", format: "pem" }).toString() };
  } catch {
    const problem = `is not a complete private key in PEM form: use the .pem file from ${app}`;
    return { ok: false, problem };
  }
}
