import { once } from "node:events";
import type { Server } from "node:http";

/** Has the server listen on a free loopback port; `close` drops its connections and stops it. */
export async function listen(
  server: Server,
): Promise<{ readonly url: string; readonly port: number; close(): Promise<void> }> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
