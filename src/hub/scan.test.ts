/** Reading the log by kind: cursors, limits, and a look at no more than was asked. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { DurableEvent } from '../core/law/world.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { createPrincipal } from '../testing/story.ts';

const ada = createPrincipal('ada');
const isTask = (event: DurableEvent): boolean => event.type === 'task.declared';

/** Two messages, then a task, so many times. */
async function openLog(times: number): Promise<Rig> {
  const rig = await openRig(() => setImmediate());
  for (let i = 0; i < times; i++) {
    await rig.send(ada, 'noise');
    await rig.send(ada, 'noise');
    await rig.until(
      rig.hub.submit({
        type: 'task.declare',
        by: ada,
        at: rig.hub.stamp(),
        id: `t${i}`,
        title: 't',
        description: '',
        dependsOn: [],
        project: null,
        suggestedOwner: null,
        causalParent: null,
        expectedVersion: null,
      }),
    );
  }
  return rig;
}

test('[FI5] every wanted event is met once by a cursor that goes on with next', async () => {
  const rig = await openLog(7);
  const positions: number[] = [];
  let from = 0;
  while (from < rig.hub.stats.entries) {
    const page = await rig.until(rig.hub.scan(from, isTask, 2, 5));
    expect(page.events.length).toBeLessThanOrEqual(2);
    expect(page.next).toBeGreaterThan(from);
    expect(page.next - from).toBeLessThanOrEqual(5);
    for (const { position, event } of page.events) {
      expect(isTask(event)).toBe(true);
      expect(position).toBeGreaterThanOrEqual(from);
      expect(position).toBeLessThan(page.next);
      positions.push(position);
    }
    from = page.next;
  }
  expect(positions).toEqual(Array.from({ length: 7 }, (_, i) => 3 * i + 2));
});

test('[FI5] at the end, and beyond it, there is nothing and the cursor stays', async () => {
  const rig = await openLog(1);
  for (const from of [3, 4, 1_000]) {
    expect(await rig.until(rig.hub.scan(from, isTask, 10, 10))).toEqual({ events: [], next: from });
  }
});
