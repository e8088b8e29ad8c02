/** Keeps the page as the run is. */

const address = location.pathname;
const key = new URLSearchParams(location.search).get("key") ?? "";
const hiddenRestMs = 20_000;
/** Nobody minds a connection that is back at once. */
const lostAfterMs = 2_500;

const entries = createEntries(byId("entries"));
let head = null;
/** How far the service's clock is ahead of ours. */
let aheadMs = 0;
let lastLink = "";
let lostTimer;

const now = () => Date.now() + aheadMs;
const page = document.scrollingElement;
const isAtEnd = () => page.scrollHeight - page.scrollTop - page.clientHeight < 80;
const toEnd = () => page.scrollTo({ top: page.scrollHeight });

function showHead() {
  const { title, words, state, message, facts, artifacts } = head;
  document.title = `${words}: ${title}`;
  say(byId("title"), title);
  byId("state").dataset.state = state;
  say(byId("state").firstElementChild, words);
  byId("message").hidden = message === null;
  say(byId("message"), message ?? "");
  const shownFacts = facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  byId("facts").replaceChildren(...shownFacts);
  byId("results").hidden = artifacts.length === 0;
  byId("artifacts").replaceChildren(...artifacts.map((artifact) => el("li", {}, artifactOf(artifact))));
  steering.show(head);
}

/** @param {{ text: string, url: string | null, uid: string | null }} artifact */
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
  say(byId("elapsed"), worked > 0 ? `${working} ${durationWords(worked)}, ${asked}` : asked);
}

function onMessage(message) {
  const follows = isAtEnd();
  const height = page.scrollHeight;
  aheadMs = message.now - Date.now();
  entries.apply(message);
  if (message.view !== undefined) {
    head = message.view;
    showHead();
  }
  if (message.keep !== undefined) steering.looked();
  tick();
  if (follows) toEnd();
  else if (page.scrollHeight > height) byId("latest").hidden = false;
}

const links = {
  live: "",
  lost: "The connection is lost. Trying again…",
  full: "Too many people watch at the moment. Trying again…",
  gone: "This session is no longer there, or the link no longer opens it.",
};

function onLink(link) {
  if (link === lastLink) return;
  lastLink = link;
  clearTimeout(lostTimer);
  const tell = () => say(byId("connection"), links[link]);
  if (link === "lost") lostTimer = setTimeout(tell, lostAfterMs);
  else tell();
}

const stream = follow({
  address: `${address}/events`,
  key,
  known: document.body.dataset.known,
  onMessage,
  onLink,
  // A browser has few connections for all its tabs: those that nobody looks at give theirs up.
  restMs: () => (document.hidden ? (head?.isEnded ? Number.POSITIVE_INFINITY : hiddenRestMs) : 0),
});
const steering = createSteering({ address, key, asked: entries.asked, look: stream.restart });

document.addEventListener("visibilitychange", () => stream.restart());
addEventListener("online", () => stream.restart());
addEventListener("pagehide", () => stream.stop());
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
addEventListener(
  "scroll",
  () => {
    if (isAtEnd()) byId("latest").hidden = true;
  },
  { passive: true },
);
byId("latest").addEventListener("click", toEnd);
setInterval(tick, 1000);
tick();
