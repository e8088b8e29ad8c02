import { SocketModeClient, type SocketModeOptions } from "@slack/socket-mode";
import { z } from "zod";

/** What the vendor's client emits about itself, on the same emitter as what Slack sends. */
const ownEvents: ReadonlySet<string> = new Set([
  "authenticated",
  "close",
  "connected",
  "connecting",
  "disconnected",
  "disconnecting",
  "error",
  "reconnecting",
  "slack_event",
  "ws_message",
]);

const name = z.string().refine((type) => !ownEvents.has(type));
const object = z.record(z.string(), z.unknown());
const lifecycle = z.object({ type: z.enum(["hello", "disconnect"]) });
const event = z.object({
  type: z.literal("events_api"),
  envelope_id: z.string(),
  payload: z.object({ event: z.object({ type: name }) }),
});
const other = z.object({
  type: name.refine((type) => type !== "events_api"),
  envelope_id: z.string(),
  payload: object,
});
const frame = z.union([lifecycle, event, other]);

/**
 * Takes no frame that is not Slack's: the vendor's client reads fields without looking, which ends as a
 * rejection that nobody waits for, and takes an event named like one of its own for its own.
 */
export class SocketClient extends SocketModeClient {
  readonly #onNonsense: () => void;

  constructor(options: SocketModeOptions, onNonsense: () => void) {
    super(options);
    this.#onNonsense = onNonsense;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    if (isBinary || !isFrame(typeof data === "string" ? data : new TextDecoder().decode(data))) {
      this.#onNonsense();
      return;
    }
    await super.onWebSocketMessage(data, isBinary);
  }
}

function isFrame(text: string): boolean {
  try {
    return frame.safeParse(JSON.parse(text)).success;
  } catch {
    return false;
  }
}
