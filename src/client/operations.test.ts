import { expect, test } from 'vitest';
import { z } from 'zod';
import { operationList } from '../wire/operations/table.ts';
import { type CallId, isKeyed, isRepeatable } from './operations.ts';

const callable = operationList.filter(({ isStreaming }) => !isStreaming);

/** They take a key, and come to the same without one. */
const KEYLESS: ReadonlySet<string> = new Set(['claims.take', 'claims.checkpoint']);

test.each(callable.map(({ id, hints, input }) => ({ id: id as CallId, hints, input })))(
  '[K8] $id is repeated exactly when the table says it may be',
  ({ id, hints, input }) => {
    const hasKey = input instanceof z.ZodObject && 'idempotency_key' in input.shape;
    expect(isKeyed(id)).toBe(hasKey && !KEYLESS.has(id));
    expect(isRepeatable(id, { idempotency_key: 'k' })).toBe(
      isKeyed(id) || hints.readOnlyHint || hints.idempotentHint,
    );
    if (isKeyed(id)) expect(isRepeatable(id, {})).toBe(false);
  },
);

test('[K8] a lease makes a drain repeatable', () => {
  expect(isRepeatable('channels.recv', { lease_ms: 1000 })).toBe(true);
});
