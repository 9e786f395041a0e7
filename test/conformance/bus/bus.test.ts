/**
 * Goal: the reference's conformance lists hold, and the same whatever door is used.
 * Method: one table of cases, four doors, real workers; the first three doors are real processes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRunning } from '../../bus/process/recorder.ts';
import { BIN } from '../../e2e/cli-run.ts';
import { CAT_CASES, type Case, ECHO_CASES } from './cases.ts';
import { DOORS, type DoorName, type OpenBus, openBus } from './open-bus.ts';

const LISTS: readonly [string, object, readonly Case[]][] = [
  // What cat was asked it never answers, so nothing is worth waiting for at the end.
  ['cat', { id: 'cat', command: '/bin/cat', instances: 1 }, CAT_CASES],
  [
    'echo',
    { id: 'echo', command: process.execPath, args: [BIN, 'worker', 'echo'], instances: 3 },
    ECHO_CASES,
  ],
];

describe.each(DOORS)('by %s', (door: DoorName) => {
  describe.each(LISTS)('with %s as worker', (_, pool, cases) => {
    let bus: OpenBus;
    beforeAll(async () => {
      bus = await openBus(door, { pools: [pool], limits: { drain_timeout_sec: 1 } });
      // All workers, or the first to come up gets every session.
      const wanted = (pool as { instances: number }).instances;
      for (;;) {
        const { result } = await bus.talk.ask('stdio_bus/stats');
        if (result?.workers === wanted) break;
      }
    });
    afterAll(() => bus.close());

    test.each(cases)('[BU22] $title', ({ run }) => run(bus.talk));

    test('[BU22] it stops as it should, and no worker is left', async () => {
      const pids = bus.workerPids();
      expect(pids).toHaveLength((pool as { instances: number }).instances);
      expect(pids.every(isRunning)).toBe(true);
      expect(await bus.stop()).toBe(door === 'embedded' ? 'stopped' : 0);
      expect(pids.filter(isRunning)).toEqual([]);
    });
  });
});
