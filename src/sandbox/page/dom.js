/** Creates and updates elements. Text is only ever inserted as text. */

/**
 * Creates an element.
 * @param {string} tag
 * @param {Record<string, string | boolean | EventListener>} [props] Attributes; a function listens to the
 *   event of that name; `false` leaves the attribute out.
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * The element with that id.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
export function byId(id, kind) {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} ${id}`);
  return element;
}

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap();
/** @type {WeakMap<Element, string>} */
const keys = new WeakMap();

/**
 * Makes the container hold one element per item, in order. An element stays as long as its item does, with
 * its focus and unsent text, and is drawn again only if the item changed.
 * @template T
 * @param {Element} container
 * @param {readonly T[]} items
 * @param {{ key: (item: T) => string, create: (item: T) => HTMLElement, draw: (element: HTMLElement, item: T) => void, sameAs?: (item: T) => unknown }} how
 */
export function keepInStep(container, items, { key, create, draw, sameAs = (item) => item }) {
  /** @type {Map<string, HTMLElement>} */
  const present = new Map();
  for (const child of container.children) {
    const name = keys.get(child);
    if (name !== undefined && child instanceof HTMLElement) present.set(name, child);
  }
  /** @type {HTMLElement | null} */
  let before = null;
  for (const item of items) {
    const name = key(item);
    const known = present.get(name);
    const element = known ?? create(item);
    present.delete(name);
    keys.set(element, name);
    const look = JSON.stringify(sameAs(item));
    if (shown.get(element) !== look) {
      draw(element, item);
      shown.set(element, look);
    }
    /** @type {Element | null} */
    const place = before === null ? container.firstElementChild : before.nextElementSibling;
    if (place !== element) container.insertBefore(element, place);
    before = element;
  }
  for (const gone of present.values()) gone.remove();
}

/** @param {number} ms Milliseconds since the epoch. */
export function timeOf(ms) {
  const date = new Date(ms);
  const element = el("time", { datetime: date.toISOString(), title: date.toLocaleString() });
  element.textContent = date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return element;
}

/** @param {string} name @param {boolean} bot */
export function avatar(name, bot) {
  const element = el("span", { class: bot ? "avatar bot" : "avatar", "aria-hidden": "true" });
  element.textContent = bot ? "✦" : name.slice(0, 1).toUpperCase();
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + letter.charCodeAt(0)) % 360;
  element.style.setProperty("--hue", String(hue));
  return element;
}

/** @param {readonly { emoji: string, by: readonly string[] }[]} reactions */
export const reactionRow = (reactions) =>
  el(
    "div",
    { class: "reactions" },
    ...reactions.map(({ emoji, by }) =>
      el("span", { class: "reaction", title: by.join(", ") }, `${emoji} ${by.length}`),
    ),
  );

/**
 * Fills a list of people and keeps the selection, which this tab remembers.
 * @param {HTMLSelectElement} select
 * @param {readonly { value: string, label: string }[]} people
 */
export function offerPeople(select, people) {
  const offered = JSON.stringify(people);
  if (select.dataset.offered === offered) return;
  const chosen = select.value || sessionStorage.getItem(select.id);
  select.replaceChildren(...people.map(({ value, label }) => el("option", { value }, label)));
  if (people.some(({ value }) => value === chosen)) select.value = chosen ?? "";
  select.dataset.offered = offered;
}
