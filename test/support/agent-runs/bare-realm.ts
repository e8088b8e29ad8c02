/** Runs the client as a web page does: one script, in a realm with the web's globals and without Node's. */
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { type Plugin, rolldown } from "rolldown";

const entry = fileURLToPath(new URL("browser-scenario.ts", import.meta.url));

/** Changes a module's code before it is bundled. */
export type Plant = (code: string, file: string) => string;

/** One script for the browser. Throws on any warning of the bundler, for instance about a Node module. */
export async function bundleForBrowser(plant: Plant = (code) => code): Promise<string> {
  const warnings: string[] = [];
  const planting: Plugin = {
    name: "plant",
    transform: (code, id) => (id.includes("/src/agent-runs/") ? plant(code, id) : null),
  };
  const bundle = await rolldown({
    input: entry,
    platform: "browser",
    plugins: [planting],
    onLog: (level, { message }) => {
      if (level === "warn") warnings.push(message);
    },
  });
  const { output } = await bundle.generate({ format: "iife", codeSplitting: false });
  await bundle.close();
  if (warnings.length > 0) throw new Error(warnings.join("\n"));
  if (output.length !== 1) throw new Error(`${output.length} files instead of one`);
  return output[0].code;
}

/** The globals of every page and worker. */
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
  performance,
};

/** Runs the script's scenario, where strings can't become code, and resolves with its result. */
export async function runScenario(script: string, baseUrl: string, goneUrl: string): Promise<unknown> {
  const realm = createContext({ ...web }, { codeGeneration: { strings: false, wasm: false } });
  new Script(script).runInContext(realm);
  const call = `scenario(${JSON.stringify(baseUrl)}, ${JSON.stringify(goneUrl)})`;
  const said: unknown = await new Script(call).runInContext(realm);
  return JSON.parse(String(said));
}
