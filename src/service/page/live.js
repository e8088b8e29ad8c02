/** Keeps the page up to date with its run. */
/** @import { SessionArtifact, SessionHead, SessionMessage } from "../sessions/session-message.ts" */
import { byId, el, linkTo, say } from "./elements.js";
import { createEntries } from "./entries.js";
import { follow } from "./follow.js";
import { createSteering } from "./steer.js";
import { agoWords, durationWords, isWebAddress } from "./text.js";

const address = location.pathname;
const key = new URLSearchParams(location.search).get("key") ?? "";
/** How long a hidden page stays without a connection. */
const hiddenRestMs = 20_000;
/** A lost connection is reported after this time. */
const lostAfterMs = 2_500;

const entries = createEntries(byId("entries", HTMLElement));
/** @type {SessionHead | null} */
let head = null;
/** How far the service's clock is ahead of this one. */
let aheadMs = 0;
let lastLink = "";
/** @type {number | undefined} */
let lostTimer;

const now = () => Date.now() + aheadMs;
const page = document.documentElement;
const isAtEnd = () => page.scrollHeight - page.scrollTop - page.clientHeight < 80;
const toEnd = () => page.scrollTo({ top: page.scrollHeight });

/** @param {SessionHead} shown */
function showHead(shown) {
  const { title, words, state, message, facts, artifacts } = shown;
  const part = (/** @type {string} */ id) => byId(id, HTMLElement);
  document.title = `${words}: ${title}`;
  say(part("title"), title);
  part("state").dataset.state = state;
  say(part("state").firstElementChild ?? part("state"), words);
  part("message").hidden = message === null;
  say(part("message"), message ?? "");
  const shownFacts = facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  part("facts").replaceChildren(...shownFacts);
  part("results").hidden = artifacts.length === 0;
  part("artifacts").replaceChildren(...artifacts.map((artifact) => el("li", {}, artifactOf(artifact))));
  steering.show(shown);
}

/** @param {SessionArtifact} artifact */
function artifactOf({ text, url, uid }) {
  if (url !== null) return isWebAddress(url) ? linkTo(url, text) : text;
  if (uid === null) return text;
  const file = `${address}/artifacts/${encodeURIComponent(uid)}?key=${encodeURIComponent(key)}`;
  return el("a", { href: file, download: "" }, text);
}

function tick() {
  entries.tick(now());
  if (head === null) return;
  const { turnBegan, workedMs, createdAt } = head;
  const worked = workedMs + (turnBegan === null ? 0 : Math.max(0, now() - turnBegan));
  const working = turnBegan === null ? "worked" : "working for";
  const asked = `asked ${agoWords(now() - createdAt)}`;
  say(byId("elapsed", HTMLElement), worked > 0 ? `${working} ${durationWords(worked)}, ${asked}` : asked);
}

/** @param {SessionMessage} message */
function onMessage(message) {
  const follows = isAtEnd();
  const height = page.scrollHeight;
  aheadMs = message.now - Date.now();
  entries.apply(message);
  if (message.view !== undefined) {
    head = message.view;
    showHead(head);
  }
  if (message.keep !== undefined) steering.looked();
  tick();
  if (follows) toEnd();
  else if (page.scrollHeight > height) byId("latest", HTMLElement).hidden = false;
}

const links = {
  live: "",
  lost: "The connection is lost. Trying again…",
  full: "The service is busy right now. Trying again…",
  gone: "This session no longer exists, or its link is no longer valid.",
};

/** @param {keyof typeof links} link */
function onLink(link) {
  if (link === lastLink) return;
  lastLink = link;
  clearTimeout(lostTimer);
  const tell = () => say(byId("connection", HTMLElement), links[link]);
  if (link === "lost") lostTimer = setTimeout(tell, lostAfterMs);
  else tell();
}

const stream = follow({
  address: `${address}/events`,
  key,
  known: document.body.dataset.known ?? "",
  onMessage,
  onLink,
  // A browser has few connections for all its tabs, so hidden pages give theirs up.
  restMs: () => (document.hidden ? (head?.isEnded ? Number.POSITIVE_INFINITY : hiddenRestMs) : 0),
});
const steering = createSteering({ address, key, asked: entries.asked, refresh: stream.restart });

document.addEventListener("visibilitychange", () => stream.restart());
addEventListener("online", () => stream.restart());
addEventListener("pagehide", () => stream.stop());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
addEventListener(
  "scroll",
  () => {
    if (isAtEnd()) byId("latest", HTMLElement).hidden = true;
  },
  { passive: true },
);
byId("latest", HTMLElement).addEventListener("click", toEnd);
setInterval(tick, 1000);
tick();
