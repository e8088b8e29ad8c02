/** What the public document of the API has beside runs: files, transcripts, conversations and redirects. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import OzAPI from "oz-agent-sdk";
import { expect, test } from "vitest";
import { z } from "zod";
import { conversation } from "#agent-runs/schema.ts";
import type { ServiceOptions } from "#service/service.ts";
import { apiKey, problemOf, serving } from "#test/support/service/serving.ts";

const leaving =
  'mkdir -p "$AGENT_ARTIFACTS/deep"; printf "# Report" > "$AGENT_ARTIFACTS/deep/report.md"; cat; echo done';

async function served(options: Partial<ServiceOptions> = {}) {
  const it = await serving({ command: leaving, ...options });
  const client = new OzAPI({ apiKey, baseURL: `${it.api.address}/api/v1`, maxRetries: 0 });
  return { ...it, client };
}

const fileAnswer = z.strictObject({
  artifact_type: z.literal("FILE"),
  artifact_uid: z.string(),
  created_at: z.iso.datetime(),
  data: z.strictObject({
    content_type: z.string(),
    download_url: z.url(),
    expires_at: z.iso.datetime(),
    filename: z.string(),
    filepath: z.string(),
    size_bytes: z.number(),
  }),
});

test("the official client reads an artifact by its uid and downloads it without a key until the link expires", async () => {
  let now = 1_800_000_000_000;
  const { api, client, folder } = await served({ now: () => now });
  const id = await api.create({ prompt: "x" });
  const data = (await api.until(id, "SUCCEEDED")).artifacts?.[0]?.data;
  expect(data).toMatchObject({ filename: "report.md", filepath: "deep/report.md" });
  const uid = String(data?.artifact_uid);

  const found = fileAnswer.parse(await client.get(`/agent/artifacts/${uid}`));
  expect(found).toMatchObject({
    artifact_uid: uid,
    data: { content_type: "text/markdown", filename: "report.md", filepath: "deep/report.md", size_bytes: 8 },
  });
  const { download_url, expires_at } = found.data;
  const download = await fetch(download_url);
  expect([download.status, await download.text()]).toEqual([200, "# Report"]);

  const elsewhere = download_url.replace(/\/artifacts\/[^?]*/, "");
  expect(await problemOf(fetch(elsewhere))).toMatchObject({ http: 404 });
  const longer = new URL(download_url);
  longer.searchParams.set("key", (longer.searchParams.get("key") ?? "").replace(/^\d/, "9"));
  expect(await problemOf(fetch(longer))).toMatchObject({ http: 404 });
  now = Date.parse(expires_at) + 1;
  expect(await problemOf(fetch(download_url))).toMatchObject({ http: 404 });

  await rm(join(folder, "service", "artifacts", id), { recursive: true });
  for (const gone of [uid, "none", "", "..%2fx"].filter((each) => each !== "")) {
    await expect(client.get(`/agent/artifacts/${gone}`)).rejects.toBeInstanceOf(OzAPI.NotFoundError);
  }
});

test("a pull request has no uid and is not served as an artifact", async () => {
  const { api } = await served({ command: "echo https://github.com/octo/app/pull/7" });
  await api.until(await api.create({ prompt: "x" }), "SUCCEEDED");
  for (const uid of ["%20", "https:%2f%2fgithub.com%2focto%2fapp%2fpull%2f7"]) {
    expect(await problemOf(api.send("GET", `/agent/artifacts/${uid}`))).toMatchObject({ http: 404 });
  }
});

test("a run's transcript is a redirect to a download that the official client follows", async () => {
  const { api, client } = await served();
  const id = await api.create({ prompt: "Tell me" });
  await api.until(id, "SUCCEEDED");
  const redirect = await fetch(`${api.address}/api/v1/agent/runs/${id}/transcript`, {
    headers: { authorization: `Bearer ${apiKey}` },
    redirect: "manual",
  });
  expect(redirect.status).toBe(302);
  const location = new URL(redirect.headers.get("location") ?? "", redirect.url);
  expect(location.href).not.toContain(apiKey);
  const download = await fetch(location);
  expect(download.status).toBe(200);
  const transcript = conversation.parse(await download.json());
  expect(transcript).toEqual(await api.talk(id));
  expect(await client.get(`/agent/runs/${id}/transcript`)).toEqual(await api.talk(id));

  location.searchParams.set("key", "1.x");
  expect(await problemOf(fetch(location))).toMatchObject({ http: 404 });
  expect(await problemOf(api.send("GET", "/agent/runs/none/transcript"))).toMatchObject({ http: 404 });
});

test("a run that was given no words has no transcript before its first turn", async () => {
  const { api } = await served({ command: "sleep 60", maxRuns: 1 });
  const before = await api.create({ prompt: "Work for long" });
  await api.until(before, "INPROGRESS");
  const silent = await api.create({ skill: "octo/app:review" });
  expect(await problemOf(api.send("GET", `/agent/runs/${silent}/transcript`))).toMatchObject({ http: 404 });
  expect((await api.run(silent)).state).toBe("QUEUED");
});

test("the official client reads a conversation by its id, which is the one of its latest run", async () => {
  const { api, client } = await served();
  const first = await api.create({ prompt: "First" });
  const { conversation_id } = await api.until(first, "SUCCEEDED");
  expect(await client.get(`/agent/conversations/${conversation_id}`)).toEqual(await api.talk(first));
  const second = await api.create({ prompt: "Second", conversation_id });
  await api.until(second, "SUCCEEDED");
  const whole = conversation.parse(await client.get(`/agent/conversations/${conversation_id}`));
  expect(whole.conversation_id).toBe(conversation_id);
  expect(JSON.stringify(whole)).toMatch(/First.*Second/);
  await expect(client.get("/agent/conversations/none")).rejects.toBeInstanceOf(OzAPI.NotFoundError);
});

test("a session leads to its conversation when the run has ended, and back while it works, without a key", async () => {
  const { api } = await served({ command: "cat > given; grep -q Second given || sleep 60" });
  const id = await api.create({ prompt: "First" });
  const { session_id, conversation_id } = await api.until(id, "INPROGRESS");
  const ask = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${api.address}/api/v1/agent/${path}/redirect`);
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const session = `sessions/${session_id}`;
  const talk = `conversations/${conversation_id}`;
  expect([await ask(session), await ask(talk)]).toEqual([{}, { session_id }]);
  await api.cancel(id);
  await api.until(id, "CANCELLED");
  expect([await ask(session), await ask(talk)]).toEqual([{ conversation_id }, {}]);
  await api.followUp(id, "Second");
  await api.until(id, "SUCCEEDED");
  const later = await api.create({ prompt: "First", conversation_id });
  await api.until(later, "INPROGRESS", "QUEUED", "PENDING");
  expect(await ask(talk)).toEqual({ session_id: later });
  expect([await ask("sessions/none"), await ask("conversations/none")]).toEqual([{}, {}]);
});
