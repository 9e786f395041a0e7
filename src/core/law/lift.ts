/**
 * Yesterday's events in today's words: the only home of old shapes, so that `evolve` knows one shape a
 * kind. A lift is named for what was different then; it is handed the entry as it was stored and
 * answers it as today's program would have written it. A kind without one costs nothing.
 *
 * Settings grow, and an event holds them whole: test/golden/v0 lays some down from before others
 * existed.
 */
import { NO_SETTINGS } from './settings.ts';
import { DEFAULT_SETTINGS } from './state.ts';

export type StoredEvent = Record<string, unknown>;

const LIFTS: ReadonlyMap<unknown, (event: StoredEvent) => StoredEvent> = new Map([
  ['space.configured', withFewerSpaceSettings],
  ['channel.configured', withFewerChannelSettings],
  ['token.created', withoutRoles],
  ['agent.assumed', assumedByItself],
]);

/** A golden log of its time holds each of them. */
export const LIFTED_KINDS: readonly unknown[] = [...LIFTS.keys()];

export function lift(event: StoredEvent): StoredEvent {
  const liftKind = LIFTS.get(event.type);
  return liftKind === undefined ? event : liftKind(event);
}

/** A token from before roles came with it has none. */
function withoutRoles(event: StoredEvent): StoredEvent {
  const { token } = event;
  if (typeof token !== 'object' || token === null || 'roles' in token) return event;
  return { ...event, token: { ...token, roles: [] } };
}

/** From when an agent gave itself its roles. */
function assumedByItself(event: StoredEvent): StoredEvent {
  return { ...event, type: 'agent.assigned', agent: event.by };
}

function withFewerSpaceSettings(event: StoredEvent): StoredEvent {
  return fillSettings(event, DEFAULT_SETTINGS);
}

function withFewerChannelSettings(event: StoredEvent): StoredEvent {
  return fillSettings(event, NO_SETTINGS);
}

/** Settings from before one of them existed: that one is what it is where nobody has said anything. */
function fillSettings(event: StoredEvent, defaults: object): StoredEvent {
  const { settings } = event;
  if (typeof settings !== 'object' || settings === null) return event;
  const isWhole = Object.keys(defaults).every((name) => name in settings);
  return isWhole ? event : { ...event, settings: { ...defaults, ...settings } };
}
