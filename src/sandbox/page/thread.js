/** The replies under a message, and the box to add one. */
import { act, grow, sendByKey, tell } from "./act.js";
import { el, keepInStep } from "./dom.js";
import { drawMessage } from "./message.js";

/**
 * Creates the thread's element and the function that draws it.
 * @param {string} ts The thread's first message.
 * @param {{ where: import("./message.js").Where, open: boolean }} options
 */
export function createThread(ts, { where, open }) {
  const toggle = el("button", { type: "button", class: "toggle" });
  const replies = el("div", { class: "replies" });
  const area = document.createElement("textarea");
  area.rows = 1;
  area.setAttribute("aria-label", "Reply in this thread");
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const form = el(
    "form",
    { class: "reply", submit: send },
    el(
      "div",
      { class: "writing" },
      area,
      el("button", { type: "submit", class: "send", "aria-label": "Send reply" }, "➤"),
    ),
    problem,
  );
  const inside = el("div", { class: "thread-inside" }, replies, form);
  const element = el("div", { class: "thread" }, toggle, inside);
  let count = 0;

  function show() {
    inside.hidden = !open;
    toggle.setAttribute("aria-expanded", String(open));
    const words = count === 0 ? "Reply in thread" : count === 1 ? "1 reply" : `${count} replies`;
    toggle.textContent = `${open ? "▾" : "▸"} ${words}`;
    element.classList.toggle("empty", count === 0 && !open);
  }
  toggle.addEventListener("click", () => {
    open = !open;
    show();
    if (open) area.focus();
  });
  sendByKey(area, "enter");

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    const text = area.value.trim();
    if (text === "") return;
    area.value = "";
    grow(area);
    const body = { user: where.user(), channel: where.channel(), text, thread: ts };
    const { problem: wrong } = await act("slack/say", body);
    tell(problem, wrong);
    if (wrong !== null && area.value === "") area.value = text;
  }

  return {
    element,
    /** @param {import("../shown/page-state.ts").PageMessage} message */
    draw(message) {
      element.hidden = message.onlyFor !== null;
      const withAgent = message.bot || message.replies.some(({ bot }) => bot);
      area.placeholder = withAgent ? "Reply to steer the agent…" : "Reply…";
      if (count === 0 && message.replies.length > 0) open = open || message.replies.some(({ bot }) => bot);
      count = message.replies.length;
      keepInStep(replies, message.replies, {
        key: (reply) => reply.ts,
        create: () => el("div"),
        draw: (one, reply) => drawMessage(one, reply, where),
      });
      show();
    },
  };
}
