import { expect, test } from 'vitest';
import { operationList } from '../wire/operations/table.ts';
import { type CallId, isRepeatable } from './operations.ts';

const callable = operationList.filter(({ isStreaming }) => !isStreaming);

test.each(callable.map(({ id, hints }) => ({ id: id as CallId, hints })))(
  '[K8] $id is repeated exactly when the table says it may be',
  ({ id, hints }) => {
    expect(isRepeatable(id, {})).toBe(hints.readOnlyHint || hints.idempotentHint);
  },
);

test('[K8] a key makes a send repeatable, and a lease a drain', () => {
  expect(isRepeatable('channels.send', { idempotency_key: 'k' })).toBe(true);
  expect(isRepeatable('channels.recv', { lease_ms: 1000 })).toBe(true);
});
