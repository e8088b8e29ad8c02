/** Turns the server's rich text into elements. Nothing is ever parsed as HTML. */
import { el } from "./dom.js";

/** Other tags are shown as plain text. */
const tags = new Set(
  "p strong em del code pre blockquote ul ol li br hr h3 h4 h5 h6 table tr th td".split(" "),
);

/**
 * @param {readonly import("../shown/rich-text.ts").RichNode[]} nodes
 * @returns {Node[]}
 */
export const rich = (nodes) => nodes.map(one);

/**
 * @param {import("../shown/rich-text.ts").RichNode} node
 * @returns {Node}
 */
function one(node) {
  if (typeof node === "string") return document.createTextNode(node);
  const children = rich(node.children);
  if (node.tag === "a") {
    if (!/^https?:\/\//i.test(node.href)) return el("span", {}, ...children);
    return el("a", { href: node.href, target: "_blank", rel: "noopener noreferrer" }, ...children);
  }
  if (node.tag === "mention") return el("span", { class: "mention" }, ...children);
  if (!tags.has(node.tag)) return el("span", {}, ...children);
  const element = el(node.tag, {}, ...children);
  return node.tag === "table" ? el("div", { class: "wide" }, element) : element;
}
