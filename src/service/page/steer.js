/** The follow-up box and the cancel button, on pages that may steer the run. */
/** @import { SessionHead } from "../sessions/session-message.ts" */
import { byId, say } from "./elements.js";
import { post } from "./follow.js";

const sent = "Sent.";

/**
 * @param {object} options
 * @param {string} options.address
 * @param {string} options.key
 * @param {(text: string) => number} options.asked How many messages from people have this text.
 * @param {() => void} options.refresh Makes the page ask the service for the run's current state.
 * @returns {{ show(head: SessionHead): void, looked(): void }}
 */
export function createSteering({ address, key, asked, refresh }) {
  if (document.getElementById("follow-up") === null) return { show() {}, looked() {} };
  const form = byId("follow-up", HTMLFormElement);
  const area = byId("follow-up-text", HTMLTextAreaElement);
  const send = byId("send", HTMLButtonElement);
  const outcome = byId("follow-up-outcome", HTMLElement);
  const cancel = byId("cancel", HTMLButtonElement);
  const confirm = byId("confirm", HTMLDialogElement);
  /**
   * A follow-up with an unknown outcome, and how many messages had its text before.
   * @type {{ message: string, before: number } | null}
   */
  let uncertain = null;
  let isBusy = false;

  /** @param {boolean} is */
  function busy(is) {
    isBusy = is;
    area.readOnly = is;
    // Not `disabled`, which would lose the focus.
    for (const button of [send, cancel]) button.setAttribute("aria-disabled", String(is));
    say(send, is ? "Sending…" : "Send");
  }

  async function sendFollowUp() {
    const message = area.value;
    if (isBusy) return;
    if (message.trim() === "") {
      // A double click: the first click has sent the text.
      if (outcome.textContent === sent) return;
      say(outcome, "There is nothing to send yet. Write what the agent should know or do.");
      area.focus();
      return;
    }
    busy(true);
    say(outcome, "");
    const before = asked(message);
    const answer = await post(`${address}/followups`, key, { message });
    if (answer.kind === "unknown") {
      uncertain = { message, before };
      say(
        outcome,
        "The service can't be reached. Your text is kept while the page checks whether it arrived.",
      );
      return refresh();
    }
    busy(false);
    if (answer.kind === "refused") return say(outcome, `Not sent: ${answer.why}`);
    area.value = "";
    grow();
    say(outcome, sent);
  }

  async function cancelRun() {
    confirm.close();
    if (isBusy) return;
    busy(true);
    say(send, "Send");
    say(outcome, "");
    const answer = await post(`${address}/cancel`, key);
    busy(false);
    if (answer.kind === "refused") say(outcome, `Not cancelled: ${answer.why}`);
    if (answer.kind === "unknown") {
      say(outcome, "The service can't be reached. If the run was cancelled, the state above will say so.");
      refresh();
    }
  }

  /** Fits the box to its text. */
  function grow() {
    area.rows = Math.min(12, Math.max(2, area.value.split("\n").length));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void sendFollowUp();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
    event.preventDefault();
    void sendFollowUp();
  });
  area.addEventListener("input", () => {
    if (!isBusy) say(outcome, "");
    grow();
  });
  cancel.addEventListener("click", () => {
    if (!isBusy) confirm.showModal();
  });
  byId("confirm-no", HTMLElement).addEventListener("click", () => confirm.close());
  byId("confirm-yes", HTMLElement).addEventListener("click", () => void cancelRun());
  form.hidden = false;

  return {
    /** Shows the controls that the run's state allows. */
    show({ state, isEnded, canCancel }) {
      if (document.activeElement === cancel && !canCancel) area.focus();
      cancel.hidden = !canCancel;
      if (!canCancel && confirm.open) confirm.close();
      const label =
        state === "BLOCKED" ? "Your answer" : isEnded ? "Follow-up: it continues the run" : "Follow-up";
      say(byId("follow-up-label", HTMLElement), label);
    },
    /** The page is up to date: settles a follow-up with an unknown outcome. */
    looked() {
      if (uncertain === null) return;
      const { message, before } = uncertain;
      uncertain = null;
      busy(false);
      if (asked(message) > before) {
        area.value = "";
        grow();
        say(outcome, "It arrived.");
      } else say(outcome, "It did not arrive. You can send it again.");
    },
  };
}
