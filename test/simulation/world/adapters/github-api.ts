/** A small GitHub at the level of its wire: the REST API for issues of one repository, over the simulated chat. */
import type { PersonEvent } from "#core/event.ts";
import { createRandom, type Random } from "#test/simulation/story/random.ts";
import type { ChatPlatform, Posted } from "#test/simulation/world/chat.ts";
import type { Machine } from "#test/simulation/world/machine.ts";
import { botLogin, type Listed, saidBy, shownOf } from "./comments.ts";
import { effectIn, viewInComment } from "./github-view.ts";
import { HookLog, hooks } from "./hook-log.ts";
import { IssueLabels } from "./issue-labels.ts";
import { Posts } from "./posts.ts";
import { type Answered, type Asked, aProxy, type Cause, type WireApi } from "./wire.ts";

const repositoryId = 100;
const repositoryName = "octo/app";
const reactions: Readonly<Record<string, string>> = { eyes: "taken", confused: "refused" };
const repository = { id: repositoryId, full_name: repositoryName };

/** What the wire shows of one of the bot's comments. */
interface Wire {
  body: string;
  readonly createdAt: string;
  updatedAt: string;
}

type Route = (asked: Asked, cause: Cause, parts: readonly string[]) => Answered;

const notFound: Answered = { status: 404, json: { message: "Not Found" } };

export class GitHubApi implements WireApi {
  readonly name = "github";
  readonly #machine: Machine;
  readonly #chat: ChatPlatform;
  readonly #posts: Posts;
  readonly #copies: Random;
  readonly #wires = new Map<Posted, Wire>();
  readonly #labels: IssueLabels;
  readonly #hooks: HookLog;
  readonly #routes: readonly (readonly [string, RegExp, Route])[];

  constructor(machine: Machine, chat: ChatPlatform) {
    this.#machine = machine;
    this.#chat = chat;
    this.#posts = new Posts(machine, chat);
    this.#copies = createRandom(machine.seed, "copies of github");
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
            .events((at) => this.#isShown(at, cause, this.#lag()))
            .map((event) => ({ ...event, issue: this.#issue(event.issue) })),
        ),
      ),
      route("GET", "/repos/octo/app/hooks", () => (seesHooks ? { status: 200, json: hooks } : notFound)),
      route("GET", log, (asked, cause) => {
        const lagMs = this.#lag();
        return this.#page(
          asked,
          this.#hooks.list((at) => this.#isShown(at, cause, lagMs)),
        );
      }),
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
      route("GET", `${issue}/labels`, (asked, _, [number]) =>
        this.#page(asked, this.#labels.of(Number(number))),
      ),
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
    this.#copies.chance(0.2)
      ? aProxy
      : { status: this.#copies.pick([500, 502, 503]), json: { message: "Server Error" } };

  tooMany(retryAfterMs: number): Answered {
    const json = { message: "Too many requests" };
    const seconds = retryAfterMs / 1_000;
    if (this.#copies.chance(0.5)) return { status: 429, json, headers: { "retry-after": String(seconds) } };
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

  #lag(): number {
    const { lags, lagRate } = this.#machine.weather;
    return lags.github > 0 && (lagRate >= 1 || this.#copies.chance(lagRate)) ? lags.github : 0;
  }

  /** What people do is late only where it is read back. */
  #isShown = (at: string, cause: Cause, lagMs: number, ours = false): boolean =>
    lagMs === 0 ||
    (cause.effect !== null && !ours) ||
    Date.parse(at) + lagMs <= this.#machine.clock("github");

  #time = (): string => new Date(this.#machine.clock("github")).toISOString();

  #placeOf = (number: number): string => `github:${repositoryId}#${number}`;

  #issue(number: number): object {
    const times = [...this.#all().filter(({ issue }) => issue === number), ...this.#labels.timesOf(number)];
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

  /** Every comment that exists, oldest first. */
  #all(): readonly Listed[] {
    const people = this.#chat.readable.flatMap(({ event }) => saidBy(event));
    const ours = [...this.#wires].flatMap(([{ id, place, deletedAt }, wire]) =>
      deletedAt === null
        ? [{ id: Number(id), issue: Number(place.split("#")[1]), login: botLogin, ...wire }]
        : [],
    );
    return [...people, ...ours].sort((one, other) => one.id - other.id);
  }

  #listed(cause: Cause): readonly Listed[] {
    const lagMs = this.#lag();
    return this.#all().filter(({ createdAt, login }) =>
      this.#isShown(createdAt, cause, lagMs, login === botLogin),
    );
  }

  #comments(asked: Asked, cause: Cause, number: number): Answered {
    const comments = this.#listed(cause).filter(({ issue }) => issue === number);
    return this.#page(asked, comments.map(shownOf));
  }

  #recent(asked: Asked, cause: Cause): Answered {
    const since = Date.parse(asked.url.searchParams.get("since") ?? "");
    const comments = this.#listed(cause).filter(({ updatedAt }) => Date.parse(updatedAt) >= since);
    return this.#page(asked, comments.toReversed().map(shownOf));
  }

  #issues(asked: Asked, cause: Cause): Answered {
    const since = Date.parse(asked.url.searchParams.get("since") ?? "");
    const changed = [
      ...this.#listed(cause),
      ...this.#labels.events((at) => this.#isShown(at, cause, this.#lag())),
    ].filter((one) => Date.parse("updatedAt" in one ? one.updatedAt : one.created_at) >= since);
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
      pageSize < 500 ? 6 * pageSize : 100,
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
    this.#wires.set(posted, { body: text, createdAt: at, updatedAt: at });
    this.#posts.happened(cause);
    return { status: 201, json: { id: Number(posted.id) } };
  }

  #own(id: string | undefined): readonly [Posted, Wire] | undefined {
    return [...this.#wires].find(([posted]) => posted.id === id && posted.deletedAt === null);
  }

  #one(id: string | undefined): Answered {
    const found = this.#all().find((one) => String(one.id) === id);
    return found === undefined ? notFound : { status: 200, json: shownOf(found) };
  }

  #edit({ body }: Asked, cause: Cause, id: string | undefined): Answered {
    const found = this.#own(id);
    if (found === undefined) return notFound;
    const [posted, wire] = found;
    wire.body = JSON.parse(body).body;
    wire.updatedAt = this.#time();
    this.#posts.edit(posted, viewInComment(wire.body));
    this.#posts.happened(cause);
    return { status: 200, json: { id: Number(id) } };
  }

  #delete(cause: Cause, id: string | undefined): Answered {
    const found = this.#own(id);
    if (found === undefined) return notFound;
    this.#posts.remove(found[0]);
    this.#posts.happened(cause);
    return { status: 204 };
  }

  #react({ body }: Asked, cause: Cause, id = ""): Answered {
    const found = this.#all().find((one) => String(one.id) === id);
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
