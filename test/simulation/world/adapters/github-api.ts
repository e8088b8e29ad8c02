/** A small GitHub at the level of its wire: the REST API for issues of one repository, over the simulated chat. */
import type { PersonEvent } from "#core/event.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { ChatPlatform } from "#test/simulation/world/chat.ts";
import type { Machine } from "#test/simulation/world/machine.ts";
import { botLogin, Comments, shownOf } from "./comments.ts";
import { effectIn, viewInComment } from "./github-view.ts";
import { HookLog, hooks } from "./hook-log.ts";
import { IssueLabels } from "./issue-labels.ts";
import { Posts } from "./posts.ts";
import { type Answered, type Asked, aProxy, type Cause, type WireApi } from "./wire.ts";

const repositoryId = 100;
const repositoryName = "octo/app";
const reactions: Readonly<Record<string, string>> = { eyes: "taken", confused: "refused" };
const repository = { id: repositoryId, full_name: repositoryName };

type Route = (asked: Asked, cause: Cause, parts: readonly string[]) => Answered;

const notFound: Answered = { status: 404, json: { message: "Not Found" } };

export class GitHubApi implements WireApi {
  readonly name = "github";
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #posts: Posts;
  readonly #random: Random;
  readonly #said: Comments;
  readonly #labels: IssueLabels;
  readonly #hooks: HookLog;
  readonly #routes: readonly (readonly [string, RegExp, Route])[];

  constructor(machine: Machine, chat: ChatPlatform) {
    this.#machine = machine;
    this.#chat = chat;
    this.#posts = new Posts(machine, chat);
    this.#said = new Comments(chat, this.#posts);
    this.#random = createRandom(machine.seed, "github");
    this.#labels = new IssueLabels(machine, chat, botLogin);
    chat.lostLabels = () => this.#labels.lost();
    this.#hooks = new HookLog(chat);
    const seesHooks = createRandom(machine.seed, "hooks").chance(0.5);
    const log = "/repos/octo/app/hooks/1/deliveries";
    const issue = String.raw`/repos/octo/app/issues/(\d+)`;
    const route = (method: string, path: string, does: Route) =>
      [method, new RegExp(`^${path}$`), does] as const;
    this.#routes = [
      route("GET", "/user", () => ({ status: 200, json: { login: botLogin, id: 1, type: "User" } })),
      route("GET", "/repositories/100", () => ({ status: 200, json: repository })),
      route("GET", "/repos/octo/app", () => ({ status: 200, json: repository })),
      route("GET", issue, (_, __, [number]) => ({ status: 200, json: this.#issue(Number(number)) })),
      route("GET", `${issue}/comments`, (asked, cause, [number]) =>
        this.#comments(asked, cause, Number(number)),
      ),
      route("POST", `${issue}/comments`, (asked, cause, [number]) =>
        this.#comment(asked, cause, Number(number)),
      ),
      route("GET", "/repos/octo/app/issues/comments/(\\d+)", (_, __, [id]) => this.#one(id)),
      route("PATCH", "/repos/octo/app/issues/comments/(\\d+)", (asked, cause, [id]) =>
        this.#edit(asked, cause, id),
      ),
      route("DELETE", "/repos/octo/app/issues/comments/(\\d+)", (_, cause, [id]) => this.#delete(cause, id)),
      route("POST", "/repos/octo/app/issues/comments/(\\d+)/reactions", (asked, cause, [id]) =>
        this.#react(asked, cause, id),
      ),
      route("GET", "/repos/octo/app/issues", (asked, cause) => this.#issues(asked, cause)),
      route("GET", "/repos/octo/app/issues/comments", (asked, cause) => this.#recent(asked, cause)),
      route("GET", "/repos/octo/app/issues/events", (asked, cause) =>
        this.#page(
          asked,
          this.#labels
            .events(this.#dated(cause))
            .map((event) => ({ ...event, issue: this.#issue(event.issue) })),
        ),
      ),
      route("GET", "/repos/octo/app/hooks", () => (seesHooks ? { status: 200, json: hooks } : notFound)),
      route("GET", log, (asked, cause) => this.#page(asked, this.#hooks.list(this.#dated(cause)))),
      route("GET", `${log}/(\\d+)`, (_, __, [id]) => {
        const json = this.#hooks.one(id, (number) => this.#issue(number));
        return json === null ? notFound : { status: 200, json };
      }),
      route("POST", `${log}/(\\d+)/attempts`, (_, __, [id]) =>
        this.#hooks.redeliver(id) ? { status: 202, json: {} } : notFound,
      ),
      route("GET", "/repos/octo/app/labels/(.+)", (_, __, [name = ""]) =>
        this.#labels.isMade(decodeURIComponent(name)) ? { status: 200, json: { name } } : notFound,
      ),
      route("POST", "/repos/octo/app/labels", ({ body }) => ({
        status: this.#labels.make(JSON.parse(body).name) ? 201 : 422,
        json: {},
      })),
      // An issue has no more labels than fit on a page.
      route("GET", `${issue}/labels`, (_, __, [number]) => ({
        status: 200,
        json: this.#labels.of(Number(number)),
      })),
      route("POST", `${issue}/labels`, ({ body }, cause, [number]) => {
        this.#posts.happened(cause);
        return { status: 200, json: this.#labels.add(Number(number), JSON.parse(body).labels) };
      }),
      route("PUT", `${issue}/labels`, ({ body }, cause, [number]) => {
        this.#posts.happened(cause);
        return { status: 200, json: this.#labels.set(Number(number), JSON.parse(body).labels) };
      }),
      route("GET", "/repos/octo/app/collaborators/(.+)/permission", (_, __, [login = ""]) => {
        const permission = this.#chat.permissions.get(decodeURIComponent(login));
        return permission === undefined ? notFound : { status: 200, json: { permission } };
      }),
    ];
  }

  makes = ({ method, url }: Asked): boolean => method === "POST" && url.pathname.endsWith("/comments");
  edits = ({ method }: Asked): boolean => method === "PATCH";
  broken = (): Answered =>
    this.#random.chance(0.2)
      ? aProxy
      : { status: this.#random.pick([500, 502, 503]), json: { message: "Server Error" } };

  tooMany(retryAfterMs: number): Answered {
    const json = { message: "Too many requests" };
    const seconds = retryAfterMs / 1_000;
    if (this.#random.chance(0.5)) return { status: 429, json, headers: { "retry-after": String(seconds) } };
    const reset = Math.ceil(this.#machine.clock("github") / 1_000) + seconds;
    return {
      status: 403,
      json,
      headers: { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) },
    };
  }

  serve(asked: Asked, cause: Cause): Answered {
    for (const [method, path, does] of this.#routes) {
      const found = method === asked.method ? path.exec(asked.url.pathname) : null;
      if (found !== null) return does(asked, cause, found.slice(1));
    }
    throw new Error(`Nothing answers ${asked.method} ${asked.url.pathname}.`);
  }

  /** The event as the platform delivers it: a label that is read back has another id. */
  deliveredAs(event: PersonEvent): PersonEvent {
    if (event.kind !== "label" || event.recovered !== true) return event;
    const number = Number(event.id.slice("github:labeled:".length));
    const { recovered: _, ...rest } = event;
    return { ...rest, id: this.#labels.deliveryOf(number) };
  }

  /** Whether what happened then is shown by a copy. */
  #dated(cause: Cause): (at: string) => boolean {
    const isShown = this.#posts.copy(cause);
    return (at) => isShown(Date.parse(at), false);
  }

  #time = (): string => new Date(this.#machine.clock("github")).toISOString();

  #placeOf = (number: number): string => `github:${repositoryId}#${number}`;

  #issue(number: number): object {
    const times = [
      ...this.#said.all().filter(({ issue }) => issue === number),
      ...this.#labels.timesOf(number),
    ];
    const updated = Math.max(
      this.#machine.time.startMs,
      ...times.map(({ createdAt }) => Date.parse(createdAt)),
    );
    return {
      number,
      title: "A flaky test",
      body: "It fails.",
      html_url: `https://github.example/${this.#placeOf(number)}`,
      user: { login: "eve" },
      updated_at: new Date(updated).toISOString(),
      repository_url: `https://api.github.com/repos/${repositoryName}`,
      locked: this.#chat.isShut(this.#placeOf(number)),
    };
  }

  #comments(asked: Asked, cause: Cause, number: number): Answered {
    const comments = this.#said.listed(cause).filter(({ issue }) => issue === number);
    return this.#page(asked, comments.map(shownOf));
  }

  #recent(asked: Asked, cause: Cause): Answered {
    const since = Date.parse(asked.url.searchParams.get("since") ?? "");
    const comments = this.#said.listed(cause).filter(({ updatedAt }) => Date.parse(updatedAt) >= since);
    return this.#page(asked, comments.toReversed().map(shownOf));
  }

  #issues(asked: Asked, cause: Cause): Answered {
    const since = Date.parse(asked.url.searchParams.get("since") ?? "");
    const changed = [...this.#said.listed(cause), ...this.#labels.events(this.#dated(cause))].filter(
      (one) => Date.parse("updatedAt" in one ? one.updatedAt : one.created_at) >= since,
    );
    const numbers = new Set(changed.map(({ issue }) => issue));
    return this.#page(
      asked,
      [...numbers].map((number) => this.#issue(number)),
    );
  }

  #page({ url }: Asked, all: readonly unknown[]): Answered {
    const { pageSize } = this.#machine.weather;
    const size = Math.min(
      Number(url.searchParams.get("per_page") ?? 30),
      pageSize < 500 ? 2 * pageSize : 100,
    );
    const page = Number(url.searchParams.get("page") ?? 1);
    const last = Math.max(1, Math.ceil(all.length / size));
    const linkTo = (number: number, rel: string): string => {
      const to = new URL(url);
      to.searchParams.set("page", String(number));
      return `<${to}>; rel="${rel}"`;
    };
    const json = all.slice((page - 1) * size, page * size);
    if (page >= last) return { status: 200, json };
    return { status: 200, json, headers: { link: `${linkTo(page + 1, "next")}, ${linkTo(last, "last")}` } };
  }

  #comment({ body }: Asked, cause: Cause, number: number): Answered {
    const place = this.#placeOf(number);
    if (this.#chat.isShut(place)) return { status: 403, json: { message: "Locked." } };
    const text: string = JSON.parse(body).body;
    const to = cause.effect?.kind === "tell" ? `@${cause.effect.person.id} ` : "";
    const view = viewInComment(text.replace(`\n${to}`, "\n"));
    const posted = this.#posts.add(effectIn(text) ?? "nothing", () => place, view, cause);
    const at = this.#time();
    this.#said.add(posted, text, at);
    this.#posts.happened(cause);
    return { status: 201, json: { id: Number(posted.id) } };
  }

  #one(id = ""): Answered {
    const found = this.#said.find(id);
    return found === undefined ? notFound : { status: 200, json: shownOf(found) };
  }

  #edit({ body }: Asked, cause: Cause, id = ""): Answered {
    const found = this.#said.own(id);
    if (found === undefined) return notFound;
    const [posted, wire] = found;
    wire.body = JSON.parse(body).body;
    wire.updatedAt = this.#time();
    this.#posts.edit(posted, viewInComment(wire.body));
    this.#posts.happened(cause);
    return { status: 200, json: { id: Number(id) } };
  }

  #delete(cause: Cause, id = ""): Answered {
    const found = this.#said.own(id);
    if (found === undefined) return notFound;
    this.#posts.remove(found[0]);
    this.#posts.happened(cause);
    return { status: 204 };
  }

  #react({ body }: Asked, cause: Cause, id = ""): Answered {
    const found = this.#said.find(id);
    if (found === undefined) return notFound;
    if (this.#chat.isShut(this.#placeOf(found.issue))) return { status: 403, json: { message: "Locked." } };
    const { content } = JSON.parse(body);
    const given = this.#chat.reactions.get(id) ?? new Set();
    const isNew = !given.has(reactions[content] ?? content);
    this.#chat.reactions.set(id, given.add(reactions[content] ?? content));
    this.#posts.happened(cause);
    return { status: isNew ? 201 : 200, json: {} };
  }
}
