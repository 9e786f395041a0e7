/**
 * Yesterday's events in today's words: the only home of old shapes, so that `evolve` knows one shape a
 * kind. A lift is named for what was different then; it is handed the entry as it was stored and
 * answers it as today's program would have written it. A kind without one costs nothing.
 *
 * No kind has changed its own fields since the first log was written. What does grow are settings,
 * which an event holds whole: test/golden/v0 lays some down from before others existed.
 */
import { NO_SETTINGS } from './settings.ts';
import { DEFAULT_SETTINGS } from './state.ts';

export type StoredEvent = Record<string, unknown>;

const LIFTS: ReadonlyMap<unknown, (event: StoredEvent) => StoredEvent> = new Map([
  ['space.configured', (event: StoredEvent) => fillSettings(event, DEFAULT_SETTINGS)],
  ['channel.configured', (event: StoredEvent) => fillSettings(event, NO_SETTINGS)],
]);

export function lift(event: StoredEvent): StoredEvent {
  const liftKind = LIFTS.get(event.type);
  return liftKind === undefined ? event : liftKind(event);
}

/** Settings from before one of them existed: that one is what it is where nobody has said anything. */
function fillSettings(event: StoredEvent, defaults: object): StoredEvent {
  const { settings } = event;
  if (typeof settings !== 'object' || settings === null) return event;
  const isWhole = Object.keys(defaults).every((name) => name in settings);
  return isWhole ? event : { ...event, settings: { ...defaults, ...settings } };
}
