/** One message of Slack: its author, its blocks, its buttons. */
import { act, confirmed, tell } from "./act.js";
import { avatar, el, reactionRow, timeOf } from "./dom.js";
import { rich } from "./rich.js";

/** @typedef {import("../shown/page-state.ts").PageMessage} PageMessage */
/** @typedef {{ user: () => string, channel: () => string }} Where */

/**
 * Draws the message into the element.
 * @param {HTMLElement} element
 * @param {PageMessage} message
 * @param {Where} where
 */
export function drawMessage(element, message, where) {
  element.className = message.onlyFor === null ? "message" : "message private";
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const body = el(
    "div",
    { class: "message-body" },
    ...(message.onlyFor === null ? [] : [el("p", { class: "only" }, "👁 Only visible to you")]),
    el(
      "p",
      { class: "byline" },
      el("strong", {}, message.author),
      ...(message.bot ? [el("span", { class: "app" }, "app")] : []),
      timeOf(message.atMs),
      ...(message.edited ? [el("span", { class: "edited" }, "(edited)")] : []),
    ),
    ...blocks(message, where, problem),
    ...(message.reactions.length === 0 ? [] : [reactionRow(message.reactions)]),
    problem,
  );
  element.replaceChildren(avatar(message.author, message.bot), body);
}

/**
 * @param {PageMessage} message
 * @param {Where} where
 * @param {HTMLElement} problem
 * @returns {HTMLElement[]}
 */
function blocks(message, where, problem) {
  /** @type {Map<string, number>} */
  const count = new Map();
  return message.blocks.map((block) => {
    switch (block.kind) {
      case "rich":
        return el("div", { class: `rich ${block.look}` }, ...rich(block.content));
      case "header":
        return el("h3", { class: "block-header" }, block.text);
      case "context":
        return el("div", { class: "context" }, ...block.parts.map((part) => el("div", {}, ...rich(part))));
      case "buttons": {
        const buttons = block.buttons.map((button) => {
          const nth = count.get(button.actionId) ?? 0;
          count.set(button.actionId, nth + 1);
          return pressable(button, nth, message, where, problem);
        });
        return el("div", { class: "row" }, ...buttons);
      }
      default:
        return el("hr");
    }
  });
}

/**
 * @param {import("../shown/blocks.ts").PageButton} button
 * @param {number} nth
 * @param {PageMessage} message
 * @param {Where} where
 * @param {HTMLElement} problem
 */
function pressable(button, nth, message, where, problem) {
  const press = async () => {
    if (button.confirm !== null && !(await confirmed(button.confirm))) return;
    element.setAttribute("disabled", "");
    const { problem: wrong } = await act("slack/press", {
      user: where.user(),
      channel: where.channel(),
      ts: message.ts,
      action: button.actionId,
      button: nth,
    });
    element.removeAttribute("disabled");
    tell(problem, wrong);
  };
  const element = el(
    "button",
    { type: "button", class: `button ${button.style}`, click: press },
    button.label,
  );
  return element;
}
