import type { Answer, ApiContext, Method, Params } from "./api-method.ts";
import { failed } from "./api-method.ts";
import { chatMethods } from "./chat-methods.ts";
import { conversationMethods } from "./conversation-methods.ts";

export interface SlackCall {
  readonly method: string;
  /** Without the token. */
  readonly params: Params;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export interface WebApiOptions extends ApiContext {
  readonly botToken: string;
  readonly appToken?: string | undefined;
  readonly now: () => number;
  /** Called with every call before it is carried out. */
  readonly record: (call: SlackCall) => void;
  /** Absolute address of a Socket Mode connection; null if there is none. */
  readonly connectionUrl: () => string | null;
}

/** Answers `POST /api/<method>`, form or JSON. https://docs.slack.dev/apis/web-api */
export async function answerCall(
  options: WebApiOptions,
  method: string,
  request: Request,
): Promise<Response> {
  const { token, ...params } = await readParams(request);
  const bearer = request.headers.get("authorization")?.replace(/^Bearer\s+/i, "") ?? token;
  options.record({ method, params, at: options.now() });
  const answer = carryOut(options, method, typeof bearer === "string" ? bearer : "", params);
  return Response.json(answer);
}

function carryOut(options: WebApiOptions, method: string, bearer: string, params: Params): Answer {
  if (bearer === "") return failed("not_authed");
  if (method === "apps.connections.open") {
    if (options.appToken === undefined || bearer !== options.appToken) return failed("invalid_auth");
    const url = options.connectionUrl();
    return url === null ? failed("internal_error") : { ok: true, url };
  }
  if (bearer !== options.botToken) return failed("invalid_auth");
  return (methods[method] ?? unknown)(params, options);
}

const authTest: Method = (_params, { workspace }) => {
  const { team } = workspace;
  return {
    ok: true,
    url: "https://sandbox.slack.com/",
    team: team.name,
    user: workspace.user(workspace.botUser)?.name,
    team_id: team.id,
    user_id: workspace.botUser,
    bot_id: workspace.botId,
    is_enterprise_install: false,
  };
};

const unknown: Method = () => failed("unknown_method");

const methods: Readonly<Record<string, Method>> = {
  "auth.test": authTest,
  ...chatMethods,
  ...conversationMethods,
};

async function readParams(request: Request): Promise<Params> {
  const body = await request.text();
  if (request.headers.get("content-type")?.startsWith("application/json")) {
    const parsed: unknown = body === "" ? {} : JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  }
  const form = Object.fromEntries(new URLSearchParams(body));
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => [name, structured.has(name) ? JSON.parse(value) : value]),
  );
}

/** Parameters that stand as JSON inside a form. */
const structured: ReadonlySet<string> = new Set(["blocks", "attachments", "metadata"]);
