/** Texts and times for people. */
/** @import { Splice } from "../sessions/session-message.ts" */

/** The text after the change. @param {string} before @param {Splice} splice */
export function applied(before, { head, from, to, tail }) {
  return head + before.slice(from, to) + tail;
}

const mostProse = 2_000;

/**
 * Splits Markdown into fenced code and prose. Long prose is split at line ends, so that a growing text changes
 * its last block only.
 * @param {string} text
 * @returns {{ kind: "code" | "prose", text: string }[]}
 */
export function blocksOf(text) {
  /** @type {{ kind: "code" | "prose", text: string }[]} */
  const blocks = [];
  /** @type {"code" | "prose"} */
  let kind = "prose";
  let fence = "";
  /** @type {string[]} */
  let lines = [];
  let size = 0;
  const end = () => {
    if (lines.length > 0) blocks.push({ kind, text: lines.join("\n") });
    lines = [];
    size = 0;
  };
  for (const line of text.split("\n")) {
    const [, mark = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    /** @type {boolean} */
    const opens = kind === "prose" && mark !== "" && !(mark.startsWith("`") && rest.includes("`"));
    const closes = kind === "code" && mark.startsWith(fence) && rest.trim() === "";
    if (opens || closes) {
      end();
      kind = opens ? "code" : "prose";
      fence = opens ? mark : "";
      continue;
    }
    if (kind === "prose" && size > mostProse) end();
    lines.push(line);
    size += line.length + 1;
  }
  end();
  return blocks;
}

const marked = /^#{1,6} [^\n]{1,300}$|`[^`\n]{1,300}`|\*\*[^*\n]{1,300}\*\*|https?:\/\/[^\s<>"'`]{1,2000}/gm;

/**
 * @typedef {{ kind: "text" | "link" | "code" | "bold", text: string }} Piece
 */

/**
 * Splits prose into plain text, headings, bold text, code and addresses.
 * @param {string} text
 * @returns {Piece[]}
 */
export function piecesOf(text) {
  /** @type {Piece[]} */
  const pieces = [];
  let at = 0;
  for (const { 0: all, index } of text.matchAll(marked)) {
    const piece = pieceOf(all);
    if (piece.kind === "link" && !isWebAddress(piece.text)) continue;
    if (index > at) pieces.push({ kind: "text", text: text.slice(at, index) });
    pieces.push(piece);
    at = index + (piece.kind === "link" ? piece.text.length : all.length);
  }
  if (at < text.length) pieces.push({ kind: "text", text: text.slice(at) });
  return pieces;
}

/** @param {string} all @returns {Piece} */
function pieceOf(all) {
  if (all.startsWith("#")) return { kind: "bold", text: all.replace(/^#+ +/, "") };
  if (all.startsWith("`")) return { kind: "code", text: all.slice(1, -1) };
  if (all.startsWith("**")) return { kind: "bold", text: all.slice(2, -2) };
  return { kind: "link", text: bare(all) };
}

/** The address without the sentence's punctuation after it. @param {string} found */
function bare(found) {
  let surplus = found.split(")").length - found.split("(").length;
  let end = found.length;
  for (; end > 0; end--) {
    const last = found.charAt(end - 1);
    if (last === ")" && surplus > 0) surplus--;
    else if (!".,;:!?*_]}".includes(last)) break;
  }
  return found.slice(0, end);
}

/** @param {string} text */
export function isWebAddress(text) {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:");
}

/** @param {number} ms */
export function durationWords(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  return minutes < 60
    ? `${minutes} min ${seconds % 60} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** @param {number} ms */
export function agoWords(ms) {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ago`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "yesterday" : `${days} days ago`;
}
