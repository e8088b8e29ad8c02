/** A proxy in front of a system that passes requests on, leaves them unanswered, or refuses them. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";

export type GateMode = "open" | "hangs" | "refuses";

export interface Gate {
  /** The system's URL with the gate in its place. */
  readonly url: string;
  /** Changes the behaviour; requests that hang until then are released. */
  turn(mode: GateMode): void;
  close(): void;
}

/** `to`: the system's URL. */
export async function openGate(to: string): Promise<Gate> {
  const target = new URL(to);
  let mode: GateMode = "open";
  const hanging = new Set<IncomingMessage>();

  function pass(incoming: IncomingMessage, response: ServerResponse): void {
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? "/", target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.once("error", () => incoming.socket.destroy());
    incoming.pipe(onward);
  }

  const server = createServer((incoming, response) => {
    switch (mode) {
      case "open":
        return pass(incoming, response);
      case "hangs":
        hanging.add(incoming);
        response.once("close", () => hanging.delete(incoming));
        incoming.resume();
        return;
      case "refuses":
        incoming.socket.destroy();
        return;
      default:
        return mode satisfies never;
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the gate has no port");

  return {
    url: `http://127.0.0.1:${address.port}${target.pathname === "/" ? "" : target.pathname}`,
    turn(next) {
      mode = next;
      for (const { socket } of hanging) socket.destroy();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
