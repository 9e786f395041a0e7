/** What a server refuses with, told with what to do. */
import { expect, test } from 'vitest';
import { natsFailure } from './failure.ts';

test('[NL4] a JetStream that has lost its leader is said with what mends it', () => {
  const refused = Object.assign(new Error('JetStream system temporarily unavailable'), {
    code: 10_008,
  });
  expect(natsFailure('nats://a/x', 'connect to', refused)).toMatchObject({
    code: 'log.unavailable',
    message: expect.stringContaining('start so many of its servers that it has one'),
  });
});
