/** The left half: a Slack workspace as one person sees it. */
import { act, grow, sendByKey, tell } from "./act.js";
import { byId, el, keepInStep, offerPeople } from "./dom.js";
import { drawMessage } from "./message.js";
import { createThread } from "./thread.js";

/** @typedef {import("../shown/page-state.ts").SlackState} SlackState */

const people = byId("slack-user", HTMLSelectElement);
const channels = byId("channels", HTMLUListElement);
const messages = byId("messages", HTMLDivElement);
const composer = byId("composer", HTMLFormElement);
const writing = byId("message", HTMLTextAreaElement);
const problem = byId("slack-problem", HTMLElement);

/** @type {SlackState | null} */
let state = null;
/** Id of the visible channel. */
let chosen = sessionStorage.getItem("channel") ?? "";
/** Unsent text, by channel. @type {Map<string, string>} */
const drafts = new Map();

const where = { user: () => people.value, channel: () => chosen };
/** @type {WeakMap<HTMLElement, { own: HTMLElement, thread: ReturnType<typeof createThread> }>} */
const parts = new WeakMap();
/** Whether the first state is being drawn. Threads that arrive later start open. */
let firstLook = true;

/** @param {SlackState} next */
export function showSlack(next) {
  state = next;
  offerPeople(
    people,
    next.people.map((name) => ({ value: name, label: name })),
  );
  if (!next.channels.some(({ id }) => id === chosen)) chosen = next.channels[0]?.id ?? "";
  draw();
  firstLook = false;
}

function draw() {
  const channel = state?.channels.find(({ id }) => id === chosen);
  if (state === null || channel === undefined) return;
  drawChannels(state);
  byId("channel-name", HTMLElement).textContent = `# ${channel.name}`;
  writing.placeholder = `Message #${channel.name}`;
  const note = byId("channel-note", HTMLElement);
  const away = `The bot is not in #${channel.name}: it sees no messages here, and answers /agent privately.`;
  tell(note, channel.hasBot ? null : away);

  const visible = channel.messages
    .filter(isForMe)
    .map((message) => ({ ...message, replies: message.replies.filter(isForMe) }));
  const atEnd = messages.scrollHeight - messages.scrollTop - messages.clientHeight < 80;
  const recent = visible.filter(({ bot, replies }) => bot || replies.length > 0).slice(-2);
  keepInStep(messages, visible, {
    key: ({ ts }) => `${chosen} ${ts}`,
    create: (message) => {
      const element = el("article", { class: "talk" });
      const own = el("div");
      const open = firstLook ? recent.includes(message) : message.bot && message.onlyFor === null;
      const thread = createThread(message.ts, { where, open });
      parts.set(element, { own, thread });
      element.append(own, thread.element);
      return element;
    },
    draw: (element, message) => {
      const part = parts.get(element);
      if (part === undefined) return;
      keepInStep(part.own, [message], {
        key: () => "own",
        create: () => el("div"),
        draw: (shown) => drawMessage(shown, message, where),
        sameAs: ({ replies: _, ...own }) => own,
      });
      part.thread.draw(message);
    },
  });
  if (atEnd) messages.scrollTop = messages.scrollHeight;
}

/** @param {{ onlyFor: string | null }} message */
function isForMe({ onlyFor }) {
  return onlyFor === null || onlyFor === people.value;
}

/** @param {string} channel Its id. */
function switchTo(channel) {
  drafts.set(chosen, writing.value);
  chosen = channel;
  sessionStorage.setItem("channel", channel);
  tell(problem, null);
  writing.value = drafts.get(channel) ?? "";
  grow(writing);
  draw();
  messages.scrollTop = messages.scrollHeight;
}

/** @param {SlackState} now */
function drawChannels({ channels: all }) {
  keepInStep(channels, all, {
    key: ({ id }) => id,
    create: ({ id }) => {
      const choose = () => {
        switchTo(id);
        writing.focus();
      };
      return el("li", {}, el("button", { type: "button", click: choose }));
    },
    draw: (element, { id, name, hasBot }) => {
      const button = element.firstElementChild;
      if (button === null) return;
      button.textContent = `# ${name}`;
      button.setAttribute("title", hasBot ? "The bot is in this channel" : "The bot is not in this channel");
      if (id === chosen) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    },
    sameAs: ({ id, name, hasBot }) => [id, name, hasBot, id === chosen],
  });
}

people.addEventListener("change", () => {
  sessionStorage.setItem(people.id, people.value);
  draw();
});
sendByKey(writing, "enter");
composer.addEventListener("submit", async (event) => {
  event.preventDefault();
  const text = writing.value.trim();
  if (text === "") return;
  writing.value = "";
  grow(writing);
  messages.scrollTop = messages.scrollHeight;
  const { problem: wrong } = await act("slack/say", { user: people.value, channel: chosen, text });
  tell(problem, wrong);
  // A refused text is put back.
  if (wrong !== null && writing.value === "") {
    writing.value = text;
    grow(writing);
  }
});

/** Puts the text into the message box. @param {string} text */
export function fillComposer(text) {
  const general = state?.channels.find(({ hasBot }) => hasBot);
  if (general !== undefined && general.id !== chosen) switchTo(general.id);
  writing.value = text;
  grow(writing);
  writing.focus();
}
byId("fill-command", HTMLButtonElement).addEventListener("click", () => {
  fillComposer("/agent run fix the flaky test");
});
