import { expect, test } from 'vitest';
import { soak } from './soak/soak.ts';

test('[FW2] [FW4] [FW7] [FW8] killed again and again, with other code between, no completion is lost or doubled', async () => {
  const report = await soak(36, 7);
  expect(report.faults).toEqual([]);
  expect(report.mapped).toBeGreaterThan(0);
  expect(report.kills).toBeGreaterThan(2);
  expect(report.completions).toBeGreaterThan(100);
  // As many starts as kills, each from the sources: half a minute, and minutes where others take the processor.
}, 600_000);
