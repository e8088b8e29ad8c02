/** Three things to try, ticked off as they are done. */
import { byId, el } from "./dom.js";
import { fillComposer } from "./slack.js";

const guide = byId("guide", HTMLElement);
const dismissed = "guide-dismissed";

/** @type {{ slack: import("../shown/page-state.ts").SlackState | null, github: import("../shown/page-state.ts").GitHubState | null }} */
const known = { slack: null, github: null };

/** @param {Partial<typeof known>} news */
export function showGuide(news) {
  Object.assign(known, news);
  const { slack, github } = known;
  if (slack === null || github === null || localStorage.getItem(dismissed) !== null) return;
  const talks = slack.channels
    .flatMap(({ messages }) => messages.map((message) => [message, ...message.replies]))
    .map((said) => said.filter(({ onlyFor }) => onlyFor === null))
    .filter((said) => said.some(({ bot }) => bot));
  const answered = talks.some((said) => said.slice(said.findIndex(({ bot }) => bot)).some(({ bot }) => !bot));
  const labelled = github.issues.some(({ comments }) => comments.some(({ bot }) => bot));
  const steps = [
    step(1, talks.length > 0, "In Slack, ask for a run: ", "/agent run fix the flaky test", () => {
      byId("show-slack", HTMLButtonElement).click();
      fillComposer("/agent run fix the flaky test");
    }),
    step(2, answered, "Reply in its thread, and the run continues", null, null),
    step(3, labelled, "On GitHub, add this label to an issue: ", "agent", () => {
      byId("show-github", HTMLButtonElement).click();
      const first = github.issues.at(-1);
      location.hash = first === undefined ? "issues" : `issue-${first.number}`;
    }),
  ];
  const all = talks.length > 0 && answered && labelled;
  const close = () => {
    localStorage.setItem(dismissed, "1");
    guide.hidden = true;
  };
  guide.replaceChildren(
    el("p", {}, el("strong", {}, all ? "You’re all set" : "Three things to try")),
    all
      ? el(
          "p",
          { class: "grow wrap" },
          "To use the bot with your team, set the variables for Slack or GitHub.",
        )
      : el("ol", {}, ...steps),
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
  const label = done ? "Done" : `Step ${number}`;
  const mark = el("span", { class: "mark", role: "img", "aria-label": label }, done ? "✓" : String(number));
  const sample =
    example === null || begin === null
      ? []
      : [el("button", { type: "button", class: "fill", click: begin }, example)];
  return el("li", { class: done ? "done" : "" }, mark, el("span", {}, text, ...sample));
}
