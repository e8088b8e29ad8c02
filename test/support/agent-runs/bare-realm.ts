/** The client as a page has it: one script, in a realm with the web's globals and none of Node's. */
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { type Plugin, rolldown } from "rolldown";

const entry = fileURLToPath(new URL("browser-scenario.ts", import.meta.url));

/** Changes a module's code, as if it had been written so. */
export type Plant = (code: string, file: string) => string;

/** One script for the browser. Throws if the bundler has the least doubt, as about a module of Node. */
export async function bundleForBrowser(plant: Plant = (code) => code): Promise<string> {
  const doubts: string[] = [];
  const planting: Plugin = {
    name: "plant",
    transform: (code, id) => (id.includes("/src/agent-runs/") ? plant(code, id) : null),
  };
  const bundle = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [planting],
    onLog: (level, { message }) => {
      if (level === "warn") doubts.push(message);
    },
  });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false });
  await bundle.close();
  if (doubts.length > 0) throw new Error(doubts.join("\n"));
  if (output.length !== 1) throw new Error(`${output.length} files instead of one`);
  return output[0].code;
}

/** What every page and every worker has besides the language itself. */
const web = {
  fetch,
  Request,
  Response,
  Headers,
  URL,
  URLSearchParams,
  AbortController,
  AbortSignal,
  ReadableStream,
  FormData,
  Blob,
  TextEncoder,
  TextDecoder,
  setTimeout,
  clearTimeout,
};

/** Runs the script's scenario, strings never being taken for code, and resolves with what it says. */
export async function runScenario(script: string, baseUrl: string, goneUrl: string): Promise<unknown> {
  const realm = createContext({ ...web }, { codeGeneration: { strings: false, wasm: false } });
  new Script(script).runInContext(realm);
  const call = `scenario(${JSON.stringify(baseUrl)}, ${JSON.stringify(goneUrl)})`;
  const said: unknown = await new Script(call).runInContext(realm);
  return JSON.parse(String(said));
}
