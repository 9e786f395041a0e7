import { expect, test } from 'vitest';
import { OPERATIONS } from '../../wire/operations/table.ts';
import { parseInput } from './input.ts';

function issuesOf(name: keyof typeof OPERATIONS, input: unknown): unknown {
  const parsed = parseInput(OPERATIONS[name], input);
  return 'value' in parsed ? [] : parsed;
}

test('[O2] what is missing is said to be missing, and the sentence reads from field to remedy', () => {
  expect(issuesOf('channels.send', { body: {} })).toMatchObject({
    message: 'send: channel is missing; expected string',
    detail: { violations: [{ field: 'channel', issue: 'is missing; expected string' }] },
  });
  expect(issuesOf('channels.send', { channel: 7, body: {}, bdy: 1 })).toMatchObject({
    detail: {
      violations: [
        { field: 'channel', issue: 'expected string, received number' },
        { field: 'bdy', issue: 'is not a known field' },
      ],
    },
  });
  expect(issuesOf('channels.ack', { message_id: 'm1', status: 'finished' })).toMatchObject({
    message: expect.stringMatching(/^channels_ack: status expected one of "received"\|/),
  });
});
