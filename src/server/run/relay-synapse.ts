/**
 * The relay in the shape that Synapse's own `relay` and `syn inbox` read: chat to all, what is
 * directed at the Synapse door, and what happens to claims [RL5]. `n`, which such readers pass over,
 * is our place in the log. What others send as a dm from another door is private and not in it.
 */
import type { DurableEvent } from '../../core/law/world.ts';
import { CHAT_CHANNEL, chatFrame, recipientsIn } from '../doors/synapse/chat-body.ts';
import { HUB_NAME } from '../doors/synapse/speech.ts';
import { type Line, type RelayShape, sentenceOf } from './relay-line.ts';

interface LiteLine extends Line {
  readonly v: 1;
  /** The chat's `msg_id`; 0 for what is none. */
  readonly i: number;
  readonly ty: string;
  readonly s: string;
  readonly to: string;
  readonly p: string;
  /** Milliseconds. */
  readonly t: number;
  readonly h: string;
}

const TYPES: Partial<Record<DurableEvent['type'], string>> = {
  'claim.taken': 'claim_granted',
  'claim.renewed': 'claim_granted',
  'claim.updated': 'task_updated',
  'claim.handed-off': 'handoff_granted',
  'claim.released': 'release_granted',
};

export const synapseShape: RelayShape = {
  version: 1,
  start: (n, t, h) => ({ ...hubLine('system', 'the relay begins', t, h), n }),
  message(message, n, id, h): LiteLine | null {
    const { channel, by, at, body } = message;
    if (channel !== CHAT_CHANNEL && recipientsIn(body) === null) return null;
    const { target, payload } = chatFrame({ by, at, position: id, body }, 'all');
    const said = { s: by, to: String(target), p: String(payload) };
    return { v: 1, i: id + 1, ty: 'chat', ...said, t: at, h, n };
  },
  work(event, n, h) {
    const said = sentenceOf(event);
    if (said === null) return null;
    const text = `${said.by}: ${said.text}`;
    return { ...hubLine(TYPES[event.type] ?? 'system', text, event.at, h), n };
  },
};

function hubLine(ty: string, p: string, t: number, h: string): Omit<LiteLine, 'n'> {
  return { v: 1, i: 0, ty, s: HUB_NAME, to: 'all', p, t, h };
}
