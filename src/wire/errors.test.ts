/** How refusals sound: a program must be able to tell them apart by their number. */
import { expect, test } from 'vitest';
import { REFUSALS } from './errors.ts';

/** SOX gives these to several of ours. */
const SHARED_FROM = -32_768;
const SHARED_TO = -32_000;

test('no two refusals have one number of JSON-RPC, but for those that SOX gives to several', () => {
  const codes = Map.groupBy(Object.entries(REFUSALS), ([, { rpc }]) => rpc);
  const doubled = [...codes].filter(
    ([rpc, all]) => all.length > 1 && (rpc < SHARED_FROM || rpc > SHARED_TO),
  );
  expect(doubled.map(([rpc, all]) => [rpc, all.map(([code]) => code)])).toEqual([]);
  expect(codes.size).toBeGreaterThan(50);
});
