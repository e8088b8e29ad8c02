/** Markdown, as GitHub and Slack's Markdown blocks take it, as rich text. */
import { type MarkdownNode, parseMarkdown } from "#base/markdown.ts";
import { link, node, type RichNode } from "./rich-text.ts";

/**
 * Returns the rich text of some Markdown. HTML is shown as text, and an image as a link to it; `hideComments`
 * drops HTML comments, as GitHub does. A text that is too costly to parse is shown as written.
 */
export function markdown(text: string, { hideComments }: { hideComments: boolean }): readonly RichNode[] {
  const tree = parseMarkdown(text);
  if (tree === null) return [node("p", [text])];
  const addresses = new Map<string, string>();
  const collect = (each: MarkdownNode): void => {
    if (each.type === "definition" && !addresses.has(each.identifier))
      addresses.set(each.identifier, each.url);
    if ("children" in each) each.children.forEach(collect);
  };
  collect(tree);

  const inside = (parent: MarkdownNode): RichNode[] =>
    "children" in parent ? parent.children.flatMap(rich) : [];

  function rich(each: MarkdownNode): readonly RichNode[] {
    switch (each.type) {
      case "heading":
        return [node(headings[each.depth - 1] ?? "h6", inside(each))];
      case "paragraph":
        return [node("p", inside(each))];
      case "blockquote":
        return [node("blockquote", inside(each))];
      case "code":
        return [node("pre", [node("code", [each.value])])];
      case "thematicBreak":
        return [node("hr", [])];
      case "list":
        return [node(each.ordered ? "ol" : "ul", inside(each))];
      case "listItem":
        return [node("li", [...(each.checked == null ? [] : [each.checked ? "☑ " : "☐ "]), ...inside(each)])];
      case "table": {
        const rows = each.children.map((row, index) => tableRow(row, index === 0 ? "th" : "td"));
        return [node("table", rows)];
      }
      case "strong":
        return [node("strong", inside(each))];
      case "emphasis":
        return [node("em", inside(each))];
      case "delete":
        return [node("del", inside(each))];
      case "break":
        return [node("br", [])];
      case "inlineCode":
        return [node("code", [each.value])];
      case "link":
        return link(each.url, inside(each));
      case "linkReference":
        return link(addresses.get(each.identifier) ?? "", inside(each));
      case "image":
      case "imageReference": {
        const url = each.type === "image" ? each.url : (addresses.get(each.identifier) ?? "");
        return link(url, [`🖼 ${each.alt || "image"}`]);
      }
      case "html":
        return htmlAsText(each.value);
      case "text":
        return lines(each.value);
      case "footnoteReference":
        return [`[${each.label ?? each.identifier}]`];
      case "footnoteDefinition":
        return [node("p", [`[${each.label ?? each.identifier}] `]), ...inside(each)];
      default:
        return inside(each);
    }
  }

  const tableRow = (row: MarkdownNode, tag: "th" | "td"): RichNode =>
    node("tr", "children" in row ? row.children.map((cell) => node(tag, inside(cell))) : []);

  function htmlAsText(html: string): readonly RichNode[] {
    const shown = hideComments ? html.replaceAll(/<!--[\s\S]*?(?:-->|$)/g, "") : html;
    return shown.trim() === "" ? [] : [shown];
  }

  return inside(tree);
}

const headings = ["h3", "h4", "h5", "h6"] as const;

/** Both platforms keep line breaks inside a paragraph. */
const lines = (text: string): RichNode[] =>
  text.split("\n").flatMap((line, index) => (index === 0 ? [line] : [node("br", []), line]));
