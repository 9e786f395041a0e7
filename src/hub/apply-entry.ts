/**
 * One stored entry made part of the world, whoever wrote it. What this program cannot read is not
 * passed over [L2]: it is a failure of the log, with its position and the way out.
 */
import { decodeEvent, decodePlain, EntryError, encodeRead } from '../core/law/entry.ts';
import type { World } from '../core/law/state.ts';
import { type DurableEvent, evolve } from '../core/law/world.ts';
import { LogError } from '../log/log.ts';

/** The entry is the one that follows on what the world has. */
export function applyEntry(world: World, entry: string): DurableEvent {
  const position = world.length;
  try {
    const event = decodeEvent(entry);
    evolve(world, event, position);
    return event;
  } catch (cause) {
    throw unreadable(cause, position);
  }
}

/** The same, as it was decided: of a message the body is text. Also the entry as this program writes it, should it be a message. */
export function applyForListeners(world: World, entry: string): Applied {
  const plain = decodePlain(entry);
  const [agent, channel] = [
    plain && world.agents.get(plain.by),
    plain && world.channels.get(plain.channel),
  ];
  if (plain == null || agent == null || channel == null) {
    const event = withText(applyEntry(world, entry));
    return { event, own: encodeRead(event, entry) };
  }
  // Names as the world has them: those that were read are parts of a text that would stay with them.
  const event = { ...plain, by: agent.name, channel: channel.name };
  const position = world.length;
  try {
    evolve(world, event, position);
  } catch (cause) {
    throw unreadable(cause, position);
  }
  return { event, own: entry };
}

export interface Applied {
  readonly event: DurableEvent;
  readonly own: string;
}

/** As it was decided: listeners get a message's body as text. */
function withText(event: DurableEvent): DurableEvent {
  if (event.type === 'message.sent') (event as { body: string }).body = JSON.stringify(event.body);
  return event;
}

/** Whether reading or evolving failed: what lies there is not for this program. */
function unreadable(cause: unknown, position: number): LogError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const what = `entry ${position} cannot be read: ${why}; nothing was changed`;
  if (cause instanceof EntryError && cause.problem === 'newer') {
    const remedy = 'upgrade synod, or restore a copy from before the newer program ran';
    return new LogError('log.newer', `${what}: ${remedy}`, { cause });
  }
  const remedy = 'use the program that wrote it, or restore a copy or an export from before';
  return new LogError('log.shape', `${what}: ${remedy}`, { cause });
}
