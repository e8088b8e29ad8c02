/** The follow-up box and the cancel button, where the link may steer. */

const sent = "Sent.";

/**
 * @param {{
 *   address: string, key: string, asked: (text: string) => number, look: () => void,
 * }} options `look` makes the page ask the service anew for how things are.
 */
export function createSteering({ address, key, asked, look }) {
  const form = byId("follow-up");
  if (form === null) return { show() {}, looked() {} };
  const area = byId("follow-up-text");
  const send = byId("send");
  const outcome = byId("follow-up-outcome");
  const cancel = byId("cancel");
  const confirm = byId("confirm");
  /** What was sent with an unknown outcome, and how often it had been asked before; null: nothing. */
  let uncertain = null;
  let isBusy = false;

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
      // The second of two clicks.
      if (outcome.textContent === sent) return;
      say(outcome, "There is nothing to send yet: write what the agent should know or do.");
      area.focus();
      return;
    }
    busy(true);
    say(outcome, "");
    const before = asked(message);
    const answer = await post(`${address}/followups`, key, { message });
    if (answer.kind === "unknown") {
      uncertain = { message, before };
      say(outcome, "The service can't be reached. Your text is kept; whether it arrived is being looked up.");
      return look();
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
      say(
        outcome,
        "The service can't be reached. The state above tells whether the run was cancelled, once it is.",
      );
      look();
    }
  }

  /** The box is as high as its text. */
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
  byId("confirm-no").addEventListener("click", () => confirm.close());
  byId("confirm-yes").addEventListener("click", () => void cancelRun());
  form.hidden = false;

  return {
    /** @param {{ state: string, isEnded: boolean, canCancel: boolean }} head */
    show({ state, isEnded, canCancel }) {
      if (document.activeElement === cancel && !canCancel) area.focus();
      cancel.hidden = !canCancel;
      if (!canCancel && confirm.open) confirm.close();
      const label =
        state === "BLOCKED" ? "Your answer" : isEnded ? "Follow-up: the run goes on with it" : "Follow-up";
      say(byId("follow-up-label"), label);
    },
    /** The page has just been told how everything is. */
    looked() {
      if (uncertain === null) return;
      const { message, before } = uncertain;
      uncertain = null;
      busy(false);
      if (asked(message) > before) {
        area.value = "";
        grow();
        say(outcome, "It did arrive.");
      } else say(outcome, "It did not arrive. Send it again when you like.");
    },
  };
}
