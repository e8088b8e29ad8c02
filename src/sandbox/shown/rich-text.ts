/**
 * Formatted text for the page, as a tree and never as HTML: the page makes an element of each node and text of
 * each string, so no text from people is ever parsed as markup.
 */

/** The elements that the page makes. */
export const richTags = [
  "p",
  "strong",
  "em",
  "del",
  "code",
  "pre",
  "blockquote",
  "ul",
  "ol",
  "li",
  "a",
  "br",
  "hr",
  "h3",
  "h4",
  "h5",
  "h6",
  "table",
  "tr",
  "th",
  "td",
  "mention",
] as const;
type RichTag = (typeof richTags)[number];

/** A piece of rich text: plain text, or an element. */
export type RichNode =
  | string
  | { readonly tag: Exclude<RichTag, "a">; readonly children: readonly RichNode[] }
  | { readonly tag: "a"; readonly href: string; readonly children: readonly RichNode[] };

/** Returns an element other than a link. */
export const node = (tag: Exclude<RichTag, "a">, children: readonly RichNode[]): RichNode => ({
  tag,
  children,
});

/** Returns a link to a web page, or only the children for any other address, such as `javascript:`. */
export function link(address: string, children: readonly RichNode[]): readonly RichNode[] {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) return children;
  return [{ tag: "a", href: url.href, children }];
}

/** Returns the text without its formatting. */
export const plainOf = (nodes: readonly RichNode[]): string =>
  nodes
    .map((each) => {
      if (typeof each === "string") return each;
      return each.tag === "br" ? "\n" : plainOf(each.children);
    })
    .join("");
