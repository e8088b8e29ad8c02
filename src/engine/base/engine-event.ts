import type { Effect } from "#core/effect.ts";
import type { PlatformEvent } from "#core/event.ts";

/** An event for metrics. Durations are in milliseconds. */
export type EngineEvent =
  | {
      readonly kind: "accepted";
      readonly event: PlatformEvent["kind"];
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
      /** Twins of uncertain effects, found and ended. */
      readonly kind: "twins";
      readonly of: Effect["kind"];
      readonly count: number;
    }
  | {
      readonly kind: "swept";
      readonly ok: boolean;
      readonly requests: number;
      /** Number of changed runs. */
      readonly changed: number;
      readonly durationMs: number;
    };

/** Called with each event of the engine. */
export type Observe = (event: EngineEvent) => void;
