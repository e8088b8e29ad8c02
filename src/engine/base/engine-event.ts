import type { Effect } from "#core/effect.ts";
import type { PersonEvent } from "#core/event.ts";

/** What happened inside the engine, for those who count and measure. */
export type Happening =
  | {
      readonly kind: "accepted";
      readonly event: PersonEvent["kind"];
      readonly answer: "saved" | "ignored" | "again" | "failed";
      readonly durationMs: number;
    }
  | {
      readonly kind: "performed";
      readonly effect: Effect["kind"];
      /** The API, the engine, or a platform by its name. */
      readonly system: string;
      readonly ok: boolean;
      readonly durationMs: number;
    }
  | {
      readonly kind: "swept";
      readonly ok: boolean;
      readonly requests: number;
      /** Runs found changed. */
      readonly changed: number;
      readonly durationMs: number;
    };
export type Observe = (happening: Happening) => void;
