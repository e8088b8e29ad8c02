import { request } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { maxPayloadBytes } from "#github/receive/receive.ts";
import { repo, start } from "#test/support/github/start.ts";

const emptyComment = {
  action: "created",
  issue: { number: 1, title: "T", html_url: "https://x", updated_at: "2026-03-01T12:00:00Z" },
  comment: { id: 7, body: "", created_at: "2026-03-01T12:00:00Z" },
  repository: { full_name: repo },
  sender: { login: "alice" },
};

describe("an oversized payload", () => {
  const post = { method: "POST", headers: { "content-type": "application/json" } };

  it("is refused before it arrives if it announces its size", async () => {
    await using github = await start();
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...post.headers, "content-length": String(maxPayloadBytes + 1) };
      const sending = request(github.hook.url, { ...post, headers }, (answer) => {
        resolve(answer.statusCode);
        sending.destroy();
      });
      sending.on("error", reject);
      sending.flushHeaders();
    });
    expect(status).toBe(413);
  });

  it("is refused while it arrives if it does not", async () => {
    await using github = await start();
    const { port, pathname } = new URL(github.hook.url);
    let sent = 0;
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), "127.0.0.1");
      let heard = "";
      const done = (): void => {
        socket.destroy();
        resolve(heard);
      };
      socket.on("data", (data) => {
        heard += String(data);
        if (heard.includes("\r\n\r\n")) done();
      });
      socket.on("error", done);
      socket.on("close", done);
      socket.write(
        `POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      const chunk = Buffer.alloc(1024 * 1024, "x");
      const pump = (failed?: Error | null): void => {
        if (failed || socket.destroyed) return;
        sent += chunk.length;
        socket.write(
          Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from("\r\n")]),
          pump,
        );
      };
      pump();
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeGreaterThan(maxPayloadBytes);
    expect(sent).toBeLessThan(maxPayloadBytes * 2);
  });

  it("does not include one of exactly the allowed size", async () => {
    await using github = await start();
    const room = maxPayloadBytes - Buffer.byteLength(JSON.stringify(emptyComment));
    const full = { ...emptyComment, comment: { ...emptyComment.comment, body: "x".repeat(room) } };
    const answer = await github.standIn.send({ payload: full });
    expect(answer.status).toBe(200);
  });
});
