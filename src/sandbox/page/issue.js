/** One issue: its text, its labels, its comments, and the box to add one. */
import { act, sendByKey, tell } from "./act.js";
import { avatar, el, keepInStep, reactionRow, timeOf } from "./dom.js";
import { rich } from "./rich.js";

/** @typedef {import("../shown/page-state.ts").GitHubState} GitHubState */
/** @typedef {import("../shown/page-state.ts").PageIssue} PageIssue */

/** The label that hands an issue to the agent. */
const agentLabel = "agent";

/** @param {{ name: string, color: string }} label */
export function labelChip({ name, color }) {
  const chip = el("span", { class: "label" }, name);
  chip.style.setProperty("--label", `#${color}`);
  return chip;
}

/**
 * Fills the body with the issue's page; returns the function that draws it.
 * @param {HTMLElement} body
 * @param {number} number
 * @param {HTMLSelectElement} people
 */
export function createIssuePage(body, number, people) {
  const head = el("div");
  const labels = el("div", { class: "labels" });
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const timeline = el("div", {
    class: "timeline",
    role: "log",
    "aria-live": "polite",
    "aria-label": "Comments",
  });
  const area = document.createElement("textarea");
  area.rows = 3;
  area.setAttribute("aria-label", "Comment");
  area.placeholder = "Comment to steer the agent, or /agent cancel";
  const author = el("span");
  const form = el(
    "form",
    { class: "comment-form", submit: send },
    area,
    el(
      "div",
      { class: "row end" },
      el(
        "span",
        { class: "hint grow" },
        "Markdown · ",
        el("kbd", {}, "Ctrl"),
        "+",
        el("kbd", {}, "Enter"),
        " sends",
      ),
      el("button", { type: "submit", class: "button go" }, "Comment"),
    ),
  );
  const page = el(
    "div",
    { class: "issue" },
    el("a", { href: "#issues", class: "back" }, "← All issues"),
    head,
    labels,
    timeline,
    el("div", { class: "entry" }, author, el("div", { class: "box grow" }, form)),
    problem,
  );
  body.replaceChildren(page);
  sendByKey(area, "ctrl-enter");
  let first = true;

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    const text = area.value.trim();
    if (text === "") return;
    area.value = "";
    const { problem: wrong } = await act("github/comment", { user: people.value, issue: number, body: text });
    tell(problem, wrong);
    if (wrong !== null && area.value === "") area.value = text;
  }
  /** @param {boolean} on */
  async function label(on) {
    const asked = { user: people.value, issue: number, label: agentLabel, on };
    tell(problem, (await act("github/label", asked)).problem);
  }

  /** @param {GitHubState} state */
  return (state) => {
    const issue = state.issues.find((one) => one.number === number);
    if (issue === undefined) {
      head.textContent = `There is no issue #${number}.`;
      return;
    }
    author.replaceChildren(avatar(people.value, false));
    const title = el(
      "h3",
      { class: "issue-name" },
      issue.title,
      " ",
      el("span", { class: "quiet" }, `#${number}`),
    );
    const by = el("span", { class: "quiet" }, `opened by ${issue.author} · `, timeOf(issue.atMs));
    head.replaceChildren(
      title,
      el("p", {}, el("span", { class: `state ${issue.state}` }, issue.state), " ", by),
    );
    const may = state.people.find(({ login }) => login === people.value)?.mayLabel ?? false;
    keepInStep(labels, [issue.labels], {
      key: () => "labels",
      create: () => el("div", { class: "row" }),
      draw: (element) => element.replaceChildren(...labelRow(issue, may, label)),
      sameAs: (all) => [all, may],
    });
    const entries = [{ ...issue, id: 0, bot: false, edited: false, reactions: [] }, ...issue.comments];
    const atEnd = body.scrollHeight - body.scrollTop - body.clientHeight < 120;
    keepInStep(timeline, entries, {
      key: ({ id }) => String(id),
      create: () => el("article", { class: "entry" }),
      draw: drawEntry,
      sameAs: ({ body: text, edited, reactions }) => [text, edited, reactions],
    });
    if (atEnd && !first) body.scrollTop = body.scrollHeight;
    first = false;
  };
}

/**
 * @param {PageIssue} issue
 * @param {boolean} may
 * @param {(on: boolean) => void} change
 */
function labelRow(issue, may, change) {
  const has = issue.labels.some(({ name }) => name === agentLabel);
  const button = el(
    "button",
    { type: "button", class: "button small", disabled: !may, click: () => change(!has) },
    has ? "Remove the label " : "Add the label ",
    el("code", {}, agentLabel),
  );
  const why = may ? [] : [el("span", { class: "quiet" }, "Changing labels requires write access.")];
  return [el("span", { class: "quiet" }, "Labels"), ...issue.labels.map(labelChip), button, ...why];
}

/**
 * @param {HTMLElement} element
 * @param {Omit<import("../shown/page-state.ts").PageComment, "id">} entry
 */
function drawEntry(element, entry) {
  const empty = el("p", { class: "quiet" }, "No description.");
  const text = entry.body.length === 0 ? [empty] : rich(entry.body);
  const box = el(
    "div",
    { class: entry.bot ? "box grow by-bot" : "box grow" },
    el(
      "p",
      { class: "byline" },
      el("strong", {}, entry.author),
      ...(entry.bot ? [el("span", { class: "app" }, "bot")] : []),
      timeOf(entry.atMs),
      ...(entry.edited ? [el("span", { class: "edited" }, "edited")] : []),
    ),
    el("div", { class: "rich markdown" }, ...text),
    ...(entry.reactions.length === 0 ? [] : [reactionRow(entry.reactions)]),
  );
  element.replaceChildren(avatar(entry.author, entry.bot), box);
}
