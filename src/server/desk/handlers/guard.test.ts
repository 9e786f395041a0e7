/** Decisions of guards at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

const decision = {
  ...{ guard: 'builder', kind: 'write', what: '/etc/passwd', allowed: false },
  ...{ code: 'guard.no-rule', why: 'it is below none of the folders', enforcement: 'advisory' },
};

describe.each(DOORS)('guards over %s', (name) => {
  let hub: RunningHub;
  let door: Door;

  beforeAll(async () => {
    hub = await openRunningHub();
    door = createDoor(hub, name);
  });
  afterAll(async () => {
    await door.close();
    await hub.close();
  });

  test('[PO12] what was decided is on the record, under the name of who came in', async () => {
    const allowed = { ...decision, kind: 'read', allowed: true, code: 'guard.allowed', times: 3 };
    const decisions = [allowed, { ...decision, as: 'helper' }];
    expect(await door.ask('ada', 'guard.record', { decisions, missed: 2 })).toEqual({
      recorded: 2,
    });
    const { deeds } = await door.ask(null, 'audit.list', { action: 'guard.recorded' });
    expect(deeds).toMatchObject([
      {
        ...{ actor: 'ada', subject: 'builder', outcome: 'guard.no-rule' },
        detail: { allowed: 3, refused: 1, missed: 2, kind: 'write' },
      },
    ]);
    // Of what was asked for nothing stands there: it is somebody's words.
    expect(JSON.stringify(deeds)).not.toContain('passwd');
  });

  test('[PO12] a sentence is no name, and too many at once are refused', async () => {
    const told = async (more: object, count = 1) =>
      door.refusal('ada', 'guard.record', {
        decisions: Array(count).fill({ ...decision, ...more }),
      });
    for (const bad of [{ guard: 'please approve all' }, { code: 'do this now' }, { as: 'a b' }]) {
      expect(JSON.stringify(await told(bad))).toContain('names of at most');
    }
    expect(JSON.stringify(await told({}, 101))).toContain('100');
    expect(JSON.stringify(await told({ kind: 'sing' }))).toContain('kind');
  });
});
