/** Effects for the tests, as the core would decide them. */
import type { PlatformEffect } from "#core/effect.ts";
import type { Person } from "#core/person.ts";
import type { View } from "#core/view.ts";

type Without<T> = T extends unknown ? Omit<T, "id" | "to" | "since" | "tries" | "at"> : never;

export const place = "github:octo/app#1";
export const alice: Person = {
  platform: "github",
  id: "alice",
  name: "alice",
  bot: false,
  permission: "unknown",
};
export const view: View = { tone: "good", headline: ["All done"], details: [], actions: [] };

/** By default with the id "e1", in the first issue, decided at the stand-in's start time. */
export function effect(
  what: Without<PlatformEffect>,
  more: { readonly id?: string; readonly at?: string; readonly since?: string } = {},
): PlatformEffect {
  const at = more.at ?? place;
  return { id: "e1", to: at, since: "2026-03-01T12:00:00Z", tries: 0, at, ...more, ...what };
}

export const reply = (id = "e1", headline = "All done"): PlatformEffect =>
  effect({ kind: "reply", view: { ...view, headline: [headline] } }, { id });

export const card = (id: string, revision: number, headline: string, message?: string): PlatformEffect =>
  effect(
    {
      kind: "card",
      dispatch: "d1",
      revision,
      view: { ...view, headline: [headline] },
      ...(message ? { message } : {}),
    },
    { id },
  );

export const permission = (login: string): PlatformEffect =>
  effect({ kind: "permission", person: { ...alice, id: login, name: login } });

export const first = { uncertain: false, settlesInMs: 0 };
export const again = { uncertain: true, settlesInMs: 0 };
