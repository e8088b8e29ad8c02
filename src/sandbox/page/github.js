/** The right half: a repository's issues on GitHub. */
import { act, sendByKey, tell } from "./act.js";
import { avatar, byId, el, keepInStep, offerPeople, timeOf } from "./dom.js";
import { createIssuePage, labelChip } from "./issue.js";

/** @typedef {import("../shown/page-state.ts").GitHubState} GitHubState */

const people = byId("github-user", HTMLSelectElement);
const body = byId("github-body", HTMLDivElement);

/** @type {GitHubState | null} */
let state = null;
/** The content of the body, and its address. @type {{ at: string, draw: (state: GitHubState) => void } | null} */
let view = null;

/** @param {GitHubState} next */
export function showGitHub(next) {
  state = next;
  byId("repo", HTMLElement).textContent = next.repo;
  offerPeople(
    people,
    next.people.map(({ login, role }) => ({ value: login, label: `${login} (${role})` })),
  );
  draw();
}

function draw() {
  if (state === null) return;
  const at = location.hash.slice(1);
  if (view?.at !== at) {
    const number = /^issue-(\d+)$/.exec(at)?.[1];
    if (number !== undefined) view = { at, draw: createIssuePage(body, Number(number), people) };
    else view = { at, draw: at === "new" ? createForm() : createList() };
    body.scrollTop = 0;
  }
  view.draw(state);
}

function createList() {
  const count = el("strong");
  const list = el("ul", { class: "issues" });
  const head = el(
    "div",
    { class: "list-head" },
    count,
    el("a", { class: "button go", href: "#new" }, "New issue"),
  );
  body.replaceChildren(el("div", { class: "box" }, head, list));
  /** @param {GitHubState} now */
  return ({ issues }) => {
    const open = issues.filter((issue) => issue.state === "open").length;
    count.textContent = open === 1 ? "1 open issue" : `${open} open issues`;
    keepInStep(list, issues, {
      key: ({ number }) => String(number),
      create: () => el("li"),
      draw: (element, issue) => {
        const title = el("a", { href: `#issue-${issue.number}`, class: "issue-title" }, issue.title);
        const by = el(
          "p",
          { class: "quiet" },
          `#${issue.number} · opened by ${issue.author} · `,
          timeOf(issue.atMs),
        );
        const comments = issue.comments.length;
        element.replaceChildren(
          el("span", { class: `dot ${issue.state}`, title: issue.state }),
          el("div", { class: "grow" }, title, ...issue.labels.map(labelChip), by),
          el(
            "span",
            { class: "quiet", "aria-label": `${comments} comments` },
            comments === 0 ? "" : `💬 ${comments}`,
          ),
        );
      },
      sameAs: ({ title, labels, comments, state: now }) => [title, labels, comments.length, now],
    });
  };
}

function createForm() {
  const title = document.createElement("input");
  title.id = "new-title";
  title.required = true;
  title.maxLength = 256;
  const text = document.createElement("textarea");
  text.id = "new-body";
  text.rows = 7;
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const author = el("span");
  /** @param {Event} event */
  const send = async (event) => {
    event.preventDefault();
    const asked = { user: people.value, title: title.value, body: text.value };
    const { problem: wrong, number } = await act("github/open", asked);
    if (number !== null) location.hash = `issue-${number}`;
    else tell(problem, wrong);
  };
  const form = el(
    "form",
    { class: "new-issue", submit: send },
    el("label", { for: "new-title" }, "Title"),
    title,
    el("label", { for: "new-body" }, "Description ", el("span", { class: "quiet" }, "Markdown")),
    text,
    el(
      "div",
      { class: "row end" },
      el("a", { class: "button", href: "#issues" }, "Cancel"),
      el("button", { type: "submit", class: "button go" }, "Open issue"),
    ),
    problem,
  );
  body.replaceChildren(el("div", { class: "entry" }, author, el("div", { class: "box grow" }, form)));
  sendByKey(text, "ctrl-enter");
  title.focus();
  return () => author.replaceChildren(avatar(people.value, false));
}

people.addEventListener("change", () => {
  sessionStorage.setItem(people.id, people.value);
  draw();
});
addEventListener("hashchange", draw);
