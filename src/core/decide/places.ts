/** Places that get other names: the thread keeps its own, is found under the others, and acts under the latest. */
import type { PersonEvent, PlatformEvent } from "#core/event.ts";
import type { Place, Scope } from "#core/place.ts";
import type { Thread } from "#core/thread.ts";

/** Returns the thread with the name that the event gives its place; the same thread if that is known. */
export function withAlias(thread: Thread, event: PlatformEvent): Thread {
  const { place, scope, formerPlaces = [] } = event;
  if (place === null) return thread;
  const { aliases = {}, places } = thread;
  const former = formerPlaces.filter((name) => isFree(thread, name, event));
  const own = [place, ...former].map((name) => aliases[name] ?? name).find((name) => places.includes(name));
  if (own === undefined || (knownAs(thread, place) === own && thread.scope === scope)) return thread;
  return { ...thread, scope, ...(own === place ? {} : { aliases: { ...aliases, [place]: own } }) };
}

/**
 * Returns whether the event may take the thread over under this former name. A name that is another place's already
 * was given away: a repository was renamed, and another one made under its old name.
 */
export const isFree = (
  { aliases = {} }: Thread,
  former: Place,
  { place, formerPlaces = [] }: PlatformEvent,
): boolean =>
  !Object.entries(aliases).some(
    ([alias, own]) => own === former && alias !== place && !formerPlaces.includes(alias),
  );

/** Returns the event with the thread's own name of its place. */
export const asKnown = (thread: Thread | null, event: PersonEvent): PersonEvent =>
  thread === null || event.place === null ? event : { ...event, place: knownAs(thread, event.place) };

const knownAs = ({ aliases }: Thread, place: Place): Place => aliases?.[place] ?? place;

/** Returns the present name of the thread's place. */
export const presentName = ({ aliases = {} }: Thread, at: Place | Scope): Place | Scope =>
  Object.entries(aliases).findLast(([, own]) => own === at)?.[0] ?? at;
