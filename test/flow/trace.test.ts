import { expect, test } from 'vitest';
import {
  createTelemetry,
  type SpanRecord,
  type TelemetryRecord,
  workflow,
} from '../../src/flow/index.ts';
import { openKit } from './kit.ts';

test('[FW16] a run and its steps are spans of one trace, over a restart', async () => {
  const { open, time } = await openKit();
  const spans: SpanRecord[] = [];
  const write = (records: readonly TelemetryRecord[]): void => {
    for (const record of records) if (record.kind === 'span') spans.push(record);
  };
  const telemetry = createTelemetry({ sinks: [{ write }] });
  const two = workflow('two', async (ctx) => {
    await ctx.step('before', () => 1, { key: 'k' });
    await ctx.sleep('night', 3_600_000);
    await ctx.step('after', () => 2);
  });
  const first = open([two], { telemetry });
  const run = await first.start(two, null, { id: 'traced' });
  await time.pass(5_000);
  await first.close();
  open([two], { telemetry });
  await time.pass(3_600_000);
  await run.result();
  await time.pass(1_000);
  await telemetry.close();
  const names = spans.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['step before', 'step after', 'workflow two']));
  expect(names.filter((name) => name === 'workflow two')).toHaveLength(2);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spans.every(({ ids }) => ids.workflow === 'traced')).toBe(true);
  expect(spans.find(({ name }) => name === 'step before')?.ids.step).toBe('before [k]');
});
