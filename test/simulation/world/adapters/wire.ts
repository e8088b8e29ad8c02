/** The wire between a real adapter and a platform's stand-in: `fetch` in virtual time, through the simulated network. */
import type { PlatformEffect } from "#core/effect.ts";
import { type Doubt, type Life, type Machine, patienceMs } from "#test/simulation/world/machine.ts";

/** One request as it arrives. */
export interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly body: string;
}

/** No body if neither `json` nor `html` is given. */
export interface Answered {
  readonly status: number;
  readonly json?: unknown;
  readonly html?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a request is made for: an effect, or else a search for missed events. */
export interface Cause {
  readonly effect: PlatformEffect | null;
  readonly doubt: Doubt;
}

/** A platform's stand-in at the level of HTTP. */
export interface WireApi {
  readonly name: "slack" | "github";
  /** Called when the request takes effect. */
  serve(asked: Asked, cause: Cause): Answered;
  /** True if it makes something new. */
  makes(asked: Asked): boolean;
  /** True if it edits a message. */
  edits(asked: Asked): boolean;
  /** An answer that something went wrong inside, by the platform or by a proxy. */
  broken(asked: Asked): Answered;
  /** An answer that there were too many requests. */
  tooMany(retryAfterMs: number): Answered;
}

/** The page of a proxy that did not reach the platform, or not in time. */
export const aProxy: Answered = { status: 200, html: "<html>Try again later.</html>" };

/** Creates the `fetch` of one process. */
export function createFetch(machine: Machine, life: Life, api: WireApi, causeOf: () => Cause): typeof fetch {
  const { name } = api;

  async function answerTo(asked: Asked): Promise<Response> {
    const { healed, weather, network } = machine;
    if (api.edits(asked) && !healed && weather.editLimitRate > 0 && network.chance(weather.editLimitRate)) {
      const retryAfterMs = 1_000 * network.whole(10, 60);
      await machine.outside(life, 50, () => {});
      return respond(api.tooMany(retryAfterMs));
    }
    const cause = causeOf();
    const answer = await machine.request(life, name, () => api.serve(asked, cause), {
      makes: api.makes(asked),
    });
    switch (answer.kind) {
      case "answered":
        return respond(answer.value);
      case "unreached":
        throw failure("ECONNREFUSED");
      case "lost":
        throw failure("ECONNRESET");
      case "failed":
        return respond(api.broken(asked));
      case "nonsense":
        return respond(aProxy);
      case "limited":
        return respond(api.tooMany(answer.retryAfterMs));
      default:
        return answer satisfies never;
    }
  }

  function respond({ status, json, html, headers }: Answered): Response {
    const date = new Date(machine.clock(name)).toUTCString();
    const body = html ?? (json === undefined ? null : JSON.stringify(json));
    const type = html === undefined ? "application/json" : "text/html";
    return new Response(body, { status, headers: { date, "content-type": type, ...headers } });
  }

  return (input, init) => {
    const { method = "GET", body } = init ?? {};
    const asked = { method, url: new URL(String(input)), body: typeof body === "string" ? body : "" };
    return new Promise((resolve, reject) => {
      const callOff = machine.time.after(patienceMs[name], () => {
        if (!life.dead) reject(new DOMException("It took too long.", "TimeoutError"));
      });
      answerTo(asked).then(resolve, reject).finally(callOff);
    });
  };
}

const failure = (code: string): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("The network failed."), { code }) });
