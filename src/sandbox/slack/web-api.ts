import { chatMethods } from "./chat-methods.ts";
import { conversationMethods } from "./conversation-methods.ts";
import { type Answer, type ApiContext, type Method, type Params, Refusal } from "./method.ts";

/** A recorded Web API call. */
export interface SlackCall {
  readonly method: string;
  /** Without the token. */
  readonly params: Params;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The parts of the stand-in that serve the Web API. */
export interface WebApiOptions extends ApiContext {
  readonly botToken: string;
  readonly appToken?: string | undefined;
  readonly now: () => number;
  /** Called with every call before it takes effect. */
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
  try {
    return Response.json(carryOut(options, method, typeof bearer === "string" ? bearer : "", params));
  } catch (error) {
    if (error instanceof Refusal) return Response.json(error.answer);
    throw error;
  }
}

function carryOut(options: WebApiOptions, method: string, bearer: string, params: Params): Answer {
  if (bearer === "") throw new Refusal("not_authed");
  const isConnecting = method === "apps.connections.open";
  if (bearer !== (isConnecting ? options.appToken : options.botToken)) throw new Refusal("invalid_auth");
  if (isConnecting) {
    const url = options.connectionUrl();
    if (url === null) throw new Refusal("internal_error");
    return { ok: true, url };
  }
  const known = methods[method];
  if (known === undefined) throw new Refusal("unknown_method");
  return known(params, options);
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

const methods: Readonly<Record<string, Method>> = {
  "auth.test": authTest,
  ...chatMethods,
  ...conversationMethods,
};

/** Parameters that are JSON inside a form. */
const structured: ReadonlySet<string> = new Set(["blocks", "attachments", "metadata"]);

async function readParams(request: Request): Promise<Params> {
  const body = await request.text();
  if (request.headers.get("content-type")?.startsWith("application/json")) {
    const parsed: unknown = body === "" ? {} : JSON.parse(body);
    return typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
  }
  const form = [...new URLSearchParams(body)];
  return Object.fromEntries(
    form.map(([name, value]) => [name, structured.has(name) ? JSON.parse(value) : value]),
  );
}
