/** The page, which shows every change that arrives by server-sent events. */
import { byId } from "./dom.js";
import { showGitHub } from "./github.js";
import { showGuide } from "./guide.js";
import { showSlack } from "./slack.js";

const live = byId("live", HTMLElement);
const events = new EventSource("/sandbox/events");

events.addEventListener("open", () => {
  live.textContent = "Live";
  live.dataset.on = "";
});
events.addEventListener("error", () => {
  live.textContent = "Reconnecting…";
  delete live.dataset.on;
});
events.addEventListener("slack", ({ data }) => {
  const slack = JSON.parse(data);
  showSlack(slack);
  showGuide({ slack });
});
events.addEventListener("github", ({ data }) => {
  const github = JSON.parse(data);
  showGitHub(github);
  showGuide({ github });
});

/** A narrow screen shows one half at a time. */
for (const half of ["slack", "github"]) {
  byId(`show-${half}`, HTMLButtonElement).addEventListener("click", () => {
    byId("halves", HTMLElement).dataset.shown = half;
    for (const other of ["slack", "github"]) {
      byId(`show-${other}`, HTMLButtonElement).setAttribute("aria-pressed", String(other === half));
    }
  });
}
