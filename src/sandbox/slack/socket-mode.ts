import { randomUUID } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { z } from "zod";
import type { Send } from "./deliver.ts";

const envelopeTypes = { event: "events_api", command: "slash_commands", interaction: "interactive" } as const;
const ack = z.object({ envelope_id: z.string(), payload: z.unknown() });

/**
 * Socket Mode. An app must ack within `answerWithinMs`.
 * https://docs.slack.dev/apis/events-api/using-socket-mode
 */
export function createSocketMode({ appId, answerWithinMs }: { appId: string; answerWithinMs: number }) {
  const sockets = new Set<WebSocket>();
  const acks = new Map<string, (payload: unknown) => void>();
  const tickets = new Set<string>();
  const webSockets = new WebSocketServer({ noServer: true });
  let path: string | null = null;

  function welcome(socket: WebSocket): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const parsed = ack.safeParse(parse(String(data)));
      if (parsed.success) acks.get(parsed.data.envelope_id)?.(parsed.data.payload);
    });
    socket.send(
      JSON.stringify({
        type: "hello",
        num_connections: sockets.size,
        connection_info: { app_id: appId },
        debug_info: { host: "sandbox", approximate_connection_time: 18_060 },
      }),
    );
  }

  function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const url = new URL(request.url ?? "/", "http://sandbox");
    if (url.pathname !== path) return;
    const ticket = url.searchParams.get("ticket") ?? "";
    if (!tickets.delete(ticket)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n");
      return;
    }
    webSockets.handleUpgrade(request, socket, head, welcome);
  }

  const send: Send = async (delivery, retry) => {
    const socket = [...sockets].findLast(({ readyState }) => readyState === WebSocket.OPEN);
    if (socket === undefined) return { status: 0, reason: "connection_failed", body: "" };
    const envelopeId = randomUUID();
    const acked = new Promise<string | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), answerWithinMs);
      acks.set(envelopeId, (payload) => {
        clearTimeout(timer);
        resolve(JSON.stringify(payload ?? null));
      });
    });
    socket.send(
      JSON.stringify({
        envelope_id: envelopeId,
        type: envelopeTypes[delivery.kind],
        accepts_response_payload: delivery.kind !== "event",
        payload: delivery.payload,
        ...(delivery.kind === "event"
          ? { retry_attempt: retry?.number ?? 0, retry_reason: retry?.reason ?? "" }
          : {}),
      }),
    );
    const body = await acked;
    acks.delete(envelopeId);
    return body === null
      ? { status: 0, reason: "timeout", body: "" }
      : { status: 200, reason: "timeout", body };
  };

  return {
    /** Delivers to the newest connection. */
    send,
    /** True once there is a server; deliveries then go this way. */
    get attached(): boolean {
      return path !== null;
    },
    /** Serves Socket Mode on the server's path, to connections with a ticket. */
    attach(server: Server, at: string): void {
      path = at;
      server.on("upgrade", upgrade);
    },
    /** Path and query of a new connection; null until attached. */
    ticket(): string | null {
      if (path === null) return null;
      const ticket = randomUUID();
      tickets.add(ticket);
      return `${path}?ticket=${ticket}&app_id=${appId}`;
    },
    connections: (): number => sockets.size,
    /** Asks the apps to reconnect, as Slack does every few hours. */
    refresh(): void {
      for (const socket of sockets) {
        socket.send(JSON.stringify({ type: "disconnect", reason: "refresh_requested", debug_info: {} }));
      }
    },
    /** Sends a raw text frame to every app. */
    say(frame: string): void {
      for (const socket of sockets) socket.send(frame);
    },
    close(): void {
      for (const socket of sockets) socket.terminate();
      webSockets.close();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
