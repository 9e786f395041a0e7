/**
 * Whose body may be dropped from the log, and what stays of the entry. The state never holds a body
 * [M7], so a compacted log makes the same world.
 */
import type { ContextWritten } from '../context/context-events.ts';
import { channelWith } from '../talk/channel.ts';
import type { FindingEvent } from '../work/finding.ts';
import { decodeEvent, decodeMessage, type StoredMessage } from './entry.ts';
import type { ChannelView, WorldView } from './state.ts';

/**
 * What stays of an entry: null when all of it does. A body goes when it is older than its channel
 * keeps, and nobody is owed it any more [RT1].
 */
export function createDropper(
  world: WorldView,
  at: number,
  olderThanMs: number | null,
): (entry: string, position: number) => string | null {
  const settled = new Map<ChannelView, Settled>();
  const settledOf = (channel: ChannelView): Settled => {
    const known = settled.get(channel) ?? settledOn(channel);
    settled.set(channel, known);
    return known;
  };
  const memoryMs = world.settings.memoryRetentionMs;
  return (entry, position) => {
    if (MEMORY_START.test(entry))
      return memoryMs === null ? null : dropMemory(entry, at - memoryMs);
    if (entry.startsWith(CONTEXT_START)) {
      return memoryMs === null ? null : dropContext(world, entry, position, at - memoryMs);
    }
    const message = decodeMessage(entry);
    if (message === null || message.dropped) return null;
    const channel = channelWith(world, { ...message, position });
    const keptMs =
      channel?.settings?.messageRetentionMs ?? world.settings.messageRetentionMs ?? olderThanMs;
    if (keptMs === null || at - message.at < keptMs) return null;
    if (channel !== undefined) {
      const { through, except } = settledOf(channel);
      if (message.seq > through || except.has(message.seq)) return null;
    }
    return withoutBody(message);
  };
}

const MEMORY_START = /^{"type":"(finding\.recorded|recall\.logged)"/;

/** A finding or a recall from before that time: its words go, and that it was stays [FI7]. */
function dropMemory(entry: string, before: number): string | null {
  const event = decodeEvent(entry) as FindingEvent;
  if (event.dropped || event.at >= before) return null;
  const words =
    event.type === 'recall.logged'
      ? { queryText: '', returnedIds: [] }
      : { reasons: [], finding: {} };
  return JSON.stringify({ ...event, ...words, dropped: true });
}

const CONTEXT_START = '{"type":"context.written"';

/** A value from before that time that its key does not hold any more [CX10]. */
function dropContext(
  world: WorldView,
  entry: string,
  position: number,
  before: number,
): string | null {
  const event = decodeEvent(entry) as ContextWritten;
  const { ns, key } = event;
  const held = world.context.namespaces.get(ns)?.entries.get(key)?.version;
  if (event.dropped || event.at >= before || held === position + 1) return null;
  return JSON.stringify({ ...event, value: null, dropped: true });
}

/** Up to which seq everybody has read, and what is open all the same. */
interface Settled {
  readonly through: number;
  readonly except: ReadonlySet<number>;
}

function settledOn(channel: ChannelView): Settled {
  let through = channel.positions.head;
  const except = new Set<number>();
  for (const { cursor, again, leased } of channel.members.values()) {
    through = Math.min(through, cursor);
    for (const seq of [...again, ...(leased?.keys() ?? [])]) except.add(seq);
  }
  for (const [seq, { isRefused }] of channel.held ?? []) if (!isRefused) except.add(seq);
  return { through, except };
}

function withoutBody({ body: _, ...head }: StoredMessage): string {
  return `${JSON.stringify({ ...head, dropped: true }).slice(0, -1)},"body":{}}`;
}
