import { expect, test } from "vitest";
import {
  type DispatchId,
  type EventId,
  type Place,
  platformOf,
  type RunId,
  runRef,
  type Scope,
} from "#core/place.ts";

const place: Place = "slack:T1:C1:1700000000.000100";
const scope: Scope = "slack:T1:C1";
const event: EventId = "slack:T1:C1:1700000000.000100";

test("a scope, a place and the ids can't be mixed up: tsc refuses it", () => {
  // @ts-expect-error A channel is no thread.
  const thread: Place = scope;
  // @ts-expect-error An event's id is turned into a dispatch's by `dispatchFor`.
  const dispatch: DispatchId = event;
  // @ts-expect-error A dispatch is not the run that it makes.
  const ref = runRef(dispatch satisfies DispatchId);
  const run: RunId = "run-1";
  expect([thread, dispatch, ref, runRef(run)]).toEqual([scope, event, `run:${event}`, "run:run-1"]);
});

test("places and scopes begin with their platform's name", () => {
  expect([place, scope].map(platformOf)).toEqual(["slack", "slack"]);
});
