/** The service, as any client with its key sees it. */
import { z } from "zod";
import { secrets } from "#test/support/bot/stand-ins.ts";

const runs = z.object({
  runs: z.array(
    z.looseObject({
      run_id: z.string(),
      state: z.string(),
      prompt: z.string(),
      created_at: z.string(),
      updated_at: z.string(),
      metadata: z.record(z.string(), z.string()),
      status_message: z.object({ message: z.string() }).nullish(),
    }),
  ),
  page_info: z.object({ has_next_page: z.boolean(), next_cursor: z.string().nullish() }),
});
export type ListedRun = z.infer<typeof runs>["runs"][number];

const conversation = z.object({
  steps: z.array(
    z.object({
      id: z.string(),
      messages: z.array(
        z.object({ role: z.string(), content: z.array(z.object({ text: z.string().nullish() })) }),
      ),
    }),
  ),
});

/** The messages of a run, oldest first. */
export interface Said {
  readonly turn: string;
  readonly role: string;
  readonly text: string;
}

export function createApi(url: () => string) {
  async function ask(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${url()}/api/v1/agent/${path}`, {
      ...init,
      headers: { authorization: `Bearer ${secrets.apiKey}`, "content-type": "application/json" },
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }
  return {
    /** Every run, in the order in which they were created. */
    async runs(): Promise<readonly ListedRun[]> {
      const found: ListedRun[] = [];
      let cursor = "";
      for (;;) {
        const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const page = runs.parse(await ask(`runs?limit=500&sort_by=created_at&sort_order=asc${more}`));
        found.push(...page.runs);
        cursor = page.page_info.next_cursor ?? "";
        if (cursor === "") return found;
      }
    },
    async said(run: string): Promise<readonly Said[]> {
      const { steps } = conversation.parse(await ask(`runs/${run}/conversation`));
      return steps.flatMap(({ id, messages }) =>
        messages.map(({ role, content }) => ({
          turn: id,
          role,
          text: content.map(({ text }) => text ?? "").join("\n"),
        })),
      );
    },
    /** Sends a follow-up to the run without the bot. */
    followUp: (run: string, message: string) =>
      ask(`runs/${run}/followups`, { method: "POST", body: JSON.stringify({ message }) }),
  };
}

export type Api = ReturnType<typeof createApi>;
