/** Reading the log by kind of event, for whoever keeps a memory of its own outside. */
import { decodeEvent } from '../core/law/entry.ts';
import type { DurableEvent } from '../core/law/world.ts';
import type { Log } from '../log/log.ts';

export interface Scanned {
  readonly events: readonly { readonly position: number; readonly event: DurableEvent }[];
  /** Where to go on: everything before it was looked at. */
  readonly next: number;
}

export async function scanLog(
  log: Pick<Log, 'read'>,
  range: { readonly from: number; readonly to: number; readonly limit: number },
  isWanted: (event: DurableEvent) => boolean,
): Promise<Scanned> {
  const events: { position: number; event: DurableEvent }[] = [];
  // A cursor from beyond the end waits there; the log itself refuses to be read from nowhere.
  if (range.from >= range.to) return { events, next: range.from };
  for await (const chunk of log.read(range.from, range.to)) {
    let position = chunk.first;
    for (const entry of chunk.entries) {
      if (position >= range.to || events.length >= range.limit) return { events, next: position };
      // Most entries are messages; telling them apart must not cost a parse.
      if (!entry.startsWith('{"type":"message.')) {
        const event = decodeEvent(entry);
        if (isWanted(event)) events.push({ position, event });
      }
      position++;
    }
  }
  return { events, next: Math.max(range.from, range.to) };
}

/** What lies at these positions of the log as far as it counts, in the order asked; each is read once. */
export async function eventsAt(
  log: Pick<Log, 'at'>,
  length: number,
  positions: readonly number[],
): Promise<DurableEvent[]> {
  const wanted = positions.filter((position) => position < length);
  const distinct = [...new Set(wanted)];
  const events = (await log.at(distinct)).map(decodeEvent);
  if (distinct.length === wanted.length) return events;
  const byPosition = new Map(distinct.map((position, i) => [position, events[i] as DurableEvent]));
  return wanted.map((position) => byPosition.get(position) as DurableEvent);
}

/** The first of what was asked for; one beyond the end of the log is undefined. */
export interface EventsRead {
  readonly events: readonly (DurableEvent | undefined)[];
  /** How much text they were. */
  readonly chars: number;
}

/** As many as so many characters hold, and at least the first: one by one, so that nothing is read in vain. */
export async function readEvents(
  log: Pick<Log, 'at'>,
  length: number,
  positions: readonly number[],
  charsMax: number,
): Promise<EventsRead> {
  const events: (DurableEvent | undefined)[] = [];
  let chars = 0;
  for (const position of positions) {
    if (events.length > 0 && chars >= charsMax) break;
    const [entry] = position < length ? await log.at([position]) : [];
    events.push(entry === undefined ? undefined : decodeEvent(entry));
    chars += entry?.length ?? 0;
  }
  return { events, chars };
}

/** At least one entry where there is one, and then as many as fit. */
export async function readEntries(
  log: Pick<Log, 'read'>,
  range: { readonly from: number; readonly to: number; readonly bytesMax: number },
): Promise<readonly string[]> {
  const read: string[] = [];
  let left = range.bytesMax;
  if (range.from >= range.to) return read;
  for await (const chunk of log.read(range.from, range.to)) {
    for (const entry of chunk.entries) {
      if (left <= 0 || range.from + read.length >= range.to) return read;
      read.push(entry);
      left -= entry.length;
    }
  }
  return read;
}

/** Stamps never run backwards, so the place of a time is found by halving. */
export async function positionAt(
  log: Pick<Log, 'at'>,
  length: number,
  at: number,
): Promise<number> {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [entry = ''] = await log.at([middle]);
    if (decodeEvent(entry).at < at) low = middle + 1;
    else high = middle;
  }
  return low;
}
