/** The conversation: one list item for each entry, changed in place. */
/** @import { SessionEntry, SessionMessage } from "../sessions/session-message.ts" */
import { el, linkTo, say } from "./elements.js";
import { agoWords, applied, blocksOf, piecesOf } from "./text.js";

const speakers = { user: "Asked", assistant: "Agent", system: "Service" };
const headings = { writing: "Agent, writing", waiting: "Asked, not yet read by the agent" };
/** A longer message from a person is folded. */
const mostShown = { characters: 1_200, lines: 16 };

/**
 * Takes over the entries that the service rendered into the list.
 * @param {HTMLElement} list
 */
export function createEntries(list) {
  let entries = [...list.children].map(renderedEntry);
  list.replaceChildren();
  /** @type {ReturnType<typeof createItem>[]} */
  let items = [];

  function show() {
    for (const item of items.slice(entries.length)) item.element.remove();
    items = items.slice(0, entries.length);
    for (const [index, entry] of entries.entries()) {
      let item = items[index];
      if (item === undefined) {
        item = createItem();
        items.push(item);
        list.append(item.element);
      }
      item.show(entry);
    }
  }
  show();

  return {
    /**
     * Applies a message of the stream. Throws if an earlier one is missing.
     * @param {SessionMessage} message
     */
    apply({ keep, count, entries: changed = [] }) {
      if (keep !== undefined) entries = entries.slice(0, keep);
      for (const { index, who, kind, at, text } of changed) {
        if (index > entries.length) throw new Error("the service skipped an entry");
        entries[index] = { who, kind, at, text: applied(entries[index]?.text ?? "", text) };
      }
      if (entries.length < count) throw new Error("the service skipped an entry");
      entries = entries.slice(0, count);
      show();
    },
    /** How many messages from people have exactly this text. @param {string} text */
    asked: (text) => entries.filter((entry) => entry.who === "user" && entry.text === text).length,
    /** Updates the ages. @param {number} now */
    tick(now) {
      for (const item of items) item.tick(now);
    },
  };
}

/**
 * The entry that the service rendered as this item (session-page.ts).
 * @param {Element} item
 * @returns {SessionEntry}
 */
function renderedEntry(item) {
  const { who, kind, at } = item instanceof HTMLElement ? item.dataset : {};
  return {
    who: who === "assistant" || who === "system" ? who : "user",
    kind: kind === "writing" || kind === "waiting" ? kind : "said",
    at: at ? Number(at) : null,
    text: item.querySelector(".text")?.textContent ?? "",
  };
}

function createItem() {
  const name = el("span");
  const time = el("time");
  const body = el("div", { class: "text" });
  const summary = el("summary");
  const fold = el("details", {}, summary);
  const element = el("li", { class: "entry" }, el("h3", {}, name, " ", time));
  /** @type {SessionEntry | null} */
  let shown = null;

  /** @param {boolean} isFolded @param {string} text */
  function place(isFolded, text) {
    if (isFolded) say(summary, summaryOf(text));
    const home = isFolded ? fold : element;
    if (body.parentNode !== home) home.append(body);
    if (isFolded) element.append(fold);
    else fold.remove();
  }

  return {
    element,
    /** @param {SessionEntry} entry */
    show(entry) {
      if (entry === shown) return;
      shown = entry;
      const { who, kind, at, text } = entry;
      element.className = `entry ${who} ${kind}`;
      element.hidden = text === "" && kind !== "writing";
      say(name, kind === "said" ? speakers[who] : headings[kind]);
      time.hidden = at === null;
      if (at !== null) {
        time.dateTime = new Date(at).toISOString();
        time.title = new Date(at).toLocaleString();
      }
      place(who !== "assistant" && isLong(text), text);
      showText(body, text);
    },
    /** @param {number} now */
    tick(now) {
      if (shown?.at) say(time, agoWords(now - shown.at));
    },
  };
}

/** @param {string} text */
const isLong = (text) =>
  text.length > mostShown.characters || text.split("\n", mostShown.lines + 1).length > mostShown.lines;

/** @param {string} text */
function summaryOf(text) {
  const first = text.trim().split("\n", 1)[0] ?? "";
  const lines = text.split("\n").length;
  return `${first.length > 160 ? `${first.slice(0, 160)}…` : first} (${lines === 1 ? "1 line" : `${lines} lines`})`;
}

/** The source text of each block on the page. @type {WeakMap<Element, string>} */
const sources = new WeakMap();

/** Changes only the blocks that differ. @param {HTMLElement} home @param {string} text */
function showText(home, text) {
  const blocks = blocksOf(text);
  while (home.children.length > blocks.length) home.lastElementChild?.remove();
  for (const [index, { kind, text: part }] of blocks.entries()) {
    const old = home.children[index];
    const source = old?.className === kind ? sources.get(old) : undefined;
    if (source === part) continue;
    if (old !== undefined && kind === "code" && source !== undefined && part.startsWith(source)) {
      old.append(part.slice(source.length));
      sources.set(old, part);
      continue;
    }
    const block = kind === "code" ? el("pre", { class: kind, tabindex: "0" }, part) : proseOf(part);
    sources.set(block, part);
    if (old === undefined) home.append(block);
    else old.replaceWith(block);
  }
}

/** @param {string} part */
function proseOf(part) {
  const nodes = piecesOf(part).map(({ kind, text }) => {
    if (kind === "link") return linkTo(text, text);
    if (kind === "code") return el("code", {}, text);
    return kind === "bold" ? el("strong", {}, text) : text;
  });
  return el("div", { class: "prose" }, ...nodes);
}
