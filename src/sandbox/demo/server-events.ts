/**
 * Reads server-sent events until the stream ends. https://html.spec.whatwg.org/multipage/server-sent-events.html
 * Rejects if the connection breaks.
 */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (name: string, data: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of body) {
    rest += decoder.decode(part, { stream: true });
    const events = rest.split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const fields = event.split("\n");
      const field = (name: string): string[] =>
        fields.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      const data = field("data");
      if (data.length > 0) onEvent(field("event")[0] ?? "message", data.join("\n"));
    }
  }
}
