import { deserialize, serialize } from 'node:v8';
import { expect, test } from 'vitest';
import { refuse } from '../../core/law/decider.ts';
import type { Principal } from '../../core/law/principal.ts';
import type { Command } from '../../core/law/world.ts';
import type { SendMessage } from '../../core/talk/message.ts';
import {
  packCommands,
  plainCommands,
  readCommands,
  readReply,
  writeReply,
} from './command-pack.ts';

const ada: Principal = { id: 'ada', kind: 'agent', tier: 'standard' };
const bob: Principal = { id: 'bob', kind: 'human', tier: 'owner', isVouched: true };

function send(more: Partial<SendMessage> = {}): SendMessage {
  return {
    ...{ type: 'message.send', by: ada, at: 7, channel: 'general', body: '{"text":"hi"}' },
    ...{ correlationId: null, replyTo: null, key: null, ttlMs: null, schemaVersion: 0 },
    ...{ asks: null, tier2: null },
    ...more,
  };
}

/** When it was asked is for who decides to say. */
const untimed = (commands: readonly Command[]) => commands.map((one) => ({ ...one, at: 0 }));

test('[SQ20] commands come as they were sent and in their order, plain sends and whatever else', () => {
  const commands: Command[] = [
    ...[send(), send({ by: bob, channel: 'plans', body: '{"text":"ça — \u{1f600} ok"}' })],
    { type: 'subscription.add', by: bob, at: 8, pattern: 'plans' } as never,
    ...[send({ body: '{}' }), send({ key: 'retry:1' }), send({ by: { ...ada } })],
    ...[send({ correlationId: 'c' }), send({ replyTo: 3 }), send({ ttlMs: 5 })],
    ...[send({ schemaVersion: 2 }), send({ asks: { of: ['bob'] } as never })],
    ...[send({ tier2: { credential: 'x' } }), send({ isQuote: true }), send({ postVersion: 0 })],
    ...[send({ trace: '00-1-2-03' }), send({ reopens: null }), send({ idempotency: null })],
    { type: 'made.up', by: ada, at: 1, set: new Set(['a']), map: new Map([[1, 'b']]) } as never,
    send({ body: '{"last":true}' }),
  ];
  const packed = readCommands(packCommands(commands));
  expect(packed.isPacked).toBe(true);
  expect(untimed(packed.commands)).toEqual(untimed(commands));
  expect(readCommands(packCommands([]))).toEqual({ commands: [], isPacked: true });
  expect(readCommands(plainCommands(commands))).toEqual({ commands, isPacked: false });
});

test('[SQ20] what they came to comes back so too', () => {
  const sent = { position: 2 ** 40, seq: 9, at: 1_700_000_000_000, depth: 0, limit: 1_000 };
  const outcomes = [
    ...[sent, refuse('hub.busy', 'later'), { ...sent, seq: 10 }, { ...sent, gate: 'g1' }],
    ...[{ ...sent, isRepeat: true }, null, { seq: 1 }, { ...sent, at: '1' }, undefined],
    sent,
  ];
  const reply = { outcomes, length: 12, passing: [] };
  for (const isPacked of [true, false]) {
    for (const keys of [true, false])
      expect(readReply(writeReply(reply, { isPacked, keys }))).toEqual({
        reply,
        packs: true,
        keys,
      });
    const notMine = { reply: { notMine: true }, packs: false, keys: false };
    expect(readReply(writeReply({ notMine: true }, { isPacked, keys: true }))).toEqual(notMine);
  }
});

test('[SQ20] a server that knows no columns is understood, and is asked and answered without', () => {
  // As such a one writes and reads: the values themselves.
  const commands = [send(), send({ channel: 'plans' })];
  expect(readCommands(serialize(commands))).toEqual({ commands, isPacked: false });
  expect(deserialize(plainCommands(commands))).toEqual(commands);
  const reply = { outcomes: [{ seq: 1 }], length: 12, passing: [] };
  expect(readReply(serialize(reply))).toEqual({ reply, packs: false, keys: false });
  expect(deserialize(writeReply(reply, { isPacked: false, keys: true }))).toMatchObject(reply);
});

test('[SQ20] many plain sends take little more room than their bodies', () => {
  const { length } = packCommands(Array.from({ length: 1_000 }, () => send()));
  expect(length / 1_000).toBeLessThan(send().body.length + 20);
});
