import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { MessageSent } from '../../core/talk/message.ts';
import {
  envelopeFieldsText,
  messageEnvelope,
  messageEnvelopeText,
  standingFields,
  standingFieldsText,
} from './envelope.ts';

const name = fc.constantFrom('ada', 'a"b', 'grün');

/** Few values each, so that neighbours have much in common and differ in any one thing. */
const messages = fc.array(
  fc.record(
    {
      type: fc.constant('message.sent' as const),
      at: fc.constantFrom(1_000, 1_001),
      by: name,
      as: fc.constantFrom('agent/standard' as const, 'human/owner' as const),
      actor: name,
      channel: name,
      seq: fc.integer({ min: 1, max: 3 }),
      body: fc.constant('{"text":"x"}'),
      correlationId: fc.constantFrom('c', 'd'),
      replyTo: fc.nat(3),
      trace: fc.constant('00-1-2-01'),
      dropped: fc.constant(true as const),
    },
    { requiredKeys: ['type', 'at', 'by', 'channel', 'seq', 'body'] },
  ),
  { maxLength: 20 },
);

test('[O1] a message as text says what it says as an object, whatever the one before it said', () => {
  fc.assert(
    fc.property(messages, (events) => {
      for (const [position, event] of (events as MessageSent[]).entries()) {
        const message = { ...event, position, body: JSON.parse(event.body) };
        const { dropped, ...fields } = messageEnvelope(message as never) as Record<string, unknown>;
        const [channel, sender, ...others] = Object.entries(fields);
        const marked = dropped === undefined ? {} : { dropped };
        const standing = standingFields(event);
        const pushed = { channel: event.channel, sender: event.by, ...standing };
        const all = { ...pushed, ...Object.fromEntries(others), position, ...marked };
        expect(messageEnvelopeText({ position, event })).toBe(JSON.stringify(all));
        const shown = Object.fromEntries([channel, sender, ...others] as [string, unknown][]);
        const text = envelopeFieldsText({ ...event, position } as never);
        expect(`{${text}}`).toBe(JSON.stringify({ ...shown, ...marked }));
        expect(`{${standingFieldsText(event)}}`).toBe(JSON.stringify(standing));
      }
    }),
  );
});
