/** Gates over a hub whose clock jumps and whose process dies: what ended by time stays ended. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { accepted, codeOf, createPrincipal } from '../testing/story.ts';

const ada = createPrincipal('ada');
const root = createPrincipal('root', { kind: 'admin', tier: 'owner' });
const HOUR = 3_600_000;
const MINUTES_15 = 900_000;

type Bare<C> = C extends Command ? Omit<C, 'by' | 'at'> : never;
const submit = (rig: Rig, by: Principal, command: Bare<Command>) =>
  rig.until(rig.hub.submit({ ...command, by, at: rig.hub.stamp() } as Command));

const ask = (rig: Rig, subject: string, deadlineMs: number | null) =>
  submit(rig, ada, {
    type: 'gate.ask',
    ...{ action: 'push', subject, tier: 1, kinds: [], names: [], count: 1, deadlineMs },
    ...{ thread: null, payloadHash: null, policy: null, turn: null, isKept: false },
    credential: 'token a',
  });
const approve = (rig: Rig, id: string) =>
  submit(rig, root, {
    ...{ type: 'gate.decide', id, decision: 'approve', reason: null, payloadHash: null },
    ...{ credential: 'owner', person: 'mia' },
  });
const consume = (rig: Rig, id: string) =>
  submit(rig, ada, { type: 'gate.consume', id, payloadHash: null, policy: null });

async function open(): Promise<Rig> {
  const rig = await openRig(() => setImmediate());
  const first = { credential: 'owner', person: null };
  accepted(await submit(rig, root, { type: 'person.add', name: 'mia', verifier: 'v', ...first }));
  return rig;
}

test('[GT1] a clock that is set back opens nothing that has ended, also over a restart', async () => {
  const rig = await open();
  accepted(await ask(rig, 'a', HOUR));
  rig.clock.jump(HOUR);
  expect(codeOf(await approve(rig, 'g1'))).toBe('gate.ended');
  rig.clock.jump(-2 * HOUR);
  expect(codeOf(await approve(rig, 'g1'))).toBe('gate.ended');
  const again = await rig.reopen();
  expect(codeOf(await approve(again, 'g1'))).toBe('gate.ended');
  expect(codeOf(await consume(again, 'g1'))).toBe('gate.ended');
});

test('[GT7] an approval lapses by its time, whichever way the clock is set and whoever is killed', async () => {
  const rig = await open();
  accepted(await ask(rig, 'a', null));
  accepted(await approve(rig, 'g1'));
  rig.clock.jump(-HOUR);
  const again = await rig.reopen();
  again.clock.jump(HOUR + MINUTES_15);
  expect(codeOf(await consume(again, 'g1'))).toBe('gate.lapsed');
});

test('[GT1] what was approved before the hub died is used once after it, and no more', async () => {
  const rig = await open();
  accepted(await ask(rig, 'a', null));
  accepted(await approve(rig, 'g1'));
  const again = await rig.reopen();
  accepted(await consume(again, 'g1'));
  const third = await again.reopen();
  expect(codeOf(await consume(third, 'g1'))).toBe('gate.ended');
});
