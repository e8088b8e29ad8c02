/** Three things to try, ticked off as they are done. */
import { byId, el } from "./dom.js";
import { fillComposer } from "./slack.js";

const guide = byId("guide", HTMLElement);
const dismissed = "guide-dismissed";

/** @type {{ slack: import("../page-state.ts").SlackState | null, github: import("../page-state.ts").GitHubState | null }} */
const known = { slack: null, github: null };

/** @param {Partial<typeof known>} news */
export function showGuide(news) {
  Object.assign(known, news);
  const { slack, github } = known;
  if (slack === null || github === null || localStorage.getItem(dismissed) !== null) return;
  const roots = slack.channels
    .flatMap(({ messages }) => messages)
    .filter(({ bot, onlyFor }) => bot && onlyFor === null);
  const labelled = github.issues.some(
    ({ labels, comments }) => labels.length > 0 || comments.some(({ bot }) => bot),
  );
  const steps = [
    step(1, roots.length > 0, "In Slack, ask for a run: ", "/agent run fix the flaky test", () =>
      fillComposer("/agent run fix the flaky test"),
    ),
    step(
      2,
      roots.some(({ replies }) => replies.some(({ bot }) => !bot)),
      "Answer in its thread: the run goes on",
      null,
      null,
    ),
    step(3, labelled, "On GitHub, give an issue the label ", "agent", () => {
      const first = github.issues.at(-1);
      location.hash = first === undefined ? "issues" : `issue-${first.number}`;
      byId("show-github", HTMLButtonElement).click();
    }),
  ];
  const close = () => {
    localStorage.setItem(dismissed, "1");
    guide.hidden = true;
  };
  guide.replaceChildren(
    el("p", {}, el("strong", {}, "Three things to try")),
    el("ol", {}, ...steps),
    el("button", { type: "button", class: "close", "aria-label": "Hide this guide", click: close }, "✕"),
  );
  guide.hidden = false;
}

/**
 * @param {number} number
 * @param {boolean} done
 * @param {string} text
 * @param {string | null} example
 * @param {(() => void) | null} begin
 */
function step(number, done, text, example, begin) {
  const mark = el(
    "span",
    { class: "mark", "aria-label": done ? "Done" : `Step ${number}` },
    done ? "✓" : String(number),
  );
  const sample =
    example === null || begin === null
      ? []
      : [el("button", { type: "button", class: "fill", click: begin }, example)];
  return el("li", { class: done ? "done" : "" }, mark, el("span", {}, text, ...sample));
}
