/**
 * Events as log entries: JSON text, one entry an event. A message's body is
 * spliced in as the text it came with, so it is encoded once in its life.
 *
 * Reading turns yesterday's shapes into today's; an entry of a type this program
 * does not know is refused, because skipping it would make a different world.
 */

import type { MessageSent } from '../talk/message.ts';
import { assert } from './assert.ts';
import type { DurableEvent } from './world.ts';

export function encodeEvent(event: DurableEvent): string {
  if (event.type !== 'message.sent') return JSON.stringify(event);
  const { body, ...head } = event;
  return `${JSON.stringify(head).slice(0, -1)},"body":${body}}`;
}

/** The event without its body: all that `evolve` needs. */
export function decodeEvent(entry: string): DurableEvent {
  const event = JSON.parse(entry) as DurableEvent;
  assert(KNOWN.has(event.type), `an entry of type ${event.type} is from a newer program`);
  return event;
}

/** A stored message with its parsed body, or null when the entry is something else. */
export function decodeMessage(entry: string): StoredMessage | null {
  if (!entry.startsWith('{"type":"message.sent"')) return null;
  return JSON.parse(entry) as StoredMessage;
}

export type StoredMessage = Omit<MessageSent, 'body'> & { readonly body: Record<string, unknown> };

const KNOWN: ReadonlySet<string> = new Set<DurableEvent['type']>([
  'message.sent',
  'message.reviewed',
  'subscription.added',
  'subscription.removed',
  'inbox.drained',
  'inbox.lapsed',
  'ack.recorded',
  'presence.changed',
  'group.created',
  'group.invited',
  'group.joined',
  'group.left',
  'space.configured',
  'channel.configured',
  'token.created',
  'token.rotated',
  'token.revoked',
  'refusal.recorded',
  'bus.recorded',
  'agent.assumed',
  'claim.taken',
  'claim.renewed',
  'claim.updated',
  'claim.checkpointed',
  'claim.handed-off',
  'claim.released',
  'claim.expired',
  'claim.keyed',
  'wait.started',
  'wait.reserved',
  'wait.ended',
  'task.declared',
  'task.updated',
  'task.removed',
  'task.escalated',
  'progress.noted',
  'offer.made',
  'offer.expired',
  'offer.withdrawn',
  'card.advertised',
  'card.dropped',
  'finding.recorded',
  'recall.logged',
]);
