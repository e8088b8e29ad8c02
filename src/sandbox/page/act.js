/** Sends people's acts to the sandbox. */
import { byId } from "./dom.js";

/**
 * Resolves with a sentence about what went wrong; null if nothing did.
 * @param {string} path Such as `slack/say`.
 * @param {object} body
 * @returns {Promise<{ problem: string | null, number: number | null }>}
 */
export async function act(path, body) {
  try {
    const response = await fetch(`/sandbox/act/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    if (!answer.ok) return { problem: String(answer.error), number: null };
    return { problem: problemOf(answer.status), number: answer.number ?? null };
  } catch {
    return { problem: "The bot can't be reached. Is it still running?", number: null };
  }
}

/** @param {number | null} status The status of the bot's answer. */
function problemOf(status) {
  if (status === null || (status >= 200 && status < 300)) return null;
  return status === 0 ? "The bot did not answer." : `The bot refused it (HTTP ${status}).`;
}

/** @param {Element} element @param {string | null} problem */
export function tell(element, problem) {
  element.textContent = problem ?? "";
  element.toggleAttribute("hidden", problem === null);
}

/**
 * Makes a text area grow with its text, and send it by a key.
 * @param {HTMLTextAreaElement} area
 * @param {"enter" | "ctrl-enter"} sendOn
 */
export function sendByKey(area, sendOn) {
  area.addEventListener("input", () => grow(area));
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    const sends = sendOn === "enter" ? !event.shiftKey : event.ctrlKey || event.metaKey;
    if (!sends) return;
    event.preventDefault();
    area.form?.requestSubmit();
  });
}

/** @param {HTMLTextAreaElement} area */
export function grow(area) {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 240)}px`;
}

/**
 * Asks for the button's confirmation.
 * @param {NonNullable<import("../shown/blocks.ts").PageButton["confirm"]>} question
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, confirm, deny }) {
  const dialog = byId("confirm", HTMLDialogElement);
  byId("confirm-title", HTMLElement).textContent = title;
  byId("confirm-text", HTMLElement).textContent = text;
  byId("confirm-yes", HTMLElement).textContent = confirm;
  byId("confirm-no", HTMLElement).textContent = deny;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
