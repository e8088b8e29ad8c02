import { SocketModeClient, type SocketModeOptions } from "@slack/socket-mode";
import { z } from "zod";

const frame = z.union([
  z.object({ type: z.enum(["hello", "disconnect"]) }),
  z.object({ envelope_id: z.string(), payload: z.record(z.string(), z.unknown()) }),
]);

/** One delivery over the socket. */
export interface Envelope {
  readonly payload: unknown;
  /** Rejects if the connection has ended. */
  readonly ack: () => Promise<void>;
}

/**
 * Slack's Socket Mode client with its own parser of envelopes. The original does not check fields, which leads to an
 * unhandled rejection, and confuses Slack's events with its own events of the same name.
 */
export class SocketClient extends SocketModeClient {
  readonly #onEnvelope: (envelope: Envelope) => void;
  readonly #onNonsense: () => void;

  constructor(options: SocketModeOptions, onEnvelope: (envelope: Envelope) => void, onNonsense: () => void) {
    super(options);
    this.#onEnvelope = onEnvelope;
    this.#onNonsense = onNonsense;
  }

  protected override async onWebSocketMessage(data: string | ArrayBuffer, isBinary: boolean): Promise<void> {
    const read = isBinary
      ? null
      : readFrame(typeof data === "string" ? data : new TextDecoder().decode(data));
    if (read === null) this.#onNonsense();
    else if ("type" in read) await super.onWebSocketMessage(data, isBinary);
    else this.#onEnvelope({ payload: read.payload, ack: () => this.#ack(read.envelope_id) });
  }

  #ack(envelopeId: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.websocket?.isActive()) return reject(new Error("the connection has ended"));
      const text = JSON.stringify({ envelope_id: envelopeId, payload: {} });
      this.websocket.send(text, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function readFrame(text: string): z.infer<typeof frame> | null {
  try {
    return frame.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
