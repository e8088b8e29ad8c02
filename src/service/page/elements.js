/** Elements. Text is only ever put in as text. */

/**
 * @param {string} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @param {string} id */
export const byId = (id) => document.getElementById(id);

/** Leaves alone what is right already, so that nothing is read out twice. @param {Element} element @param {string} text */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {string} url @param {string} text */
export const linkTo = (url, text) => el("a", { href: url, rel: "noopener noreferrer nofollow" }, text);
