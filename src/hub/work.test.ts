/** Work in a running hub: time passes by its own clock, waiters wake, and a crash loses nothing. */
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import { TTL_MS_MIN } from '../core/work/claim/claim-limits.ts';
import { STALLED_AFTER_MS } from '../core/work/work-limits.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { accepted, codeOf, createPrincipal } from '../testing/story.ts';

const ada = createPrincipal('ada');
const root = createPrincipal('root', { kind: 'admin' });
const bob = createPrincipal('bob');
const flush = (): Promise<void> => setImmediate();

type Bare<C> = C extends Command ? Omit<C, 'by' | 'at'> : never;
const submit = (rig: Rig, by: Principal, command: Bare<Command>) =>
  rig.until(rig.hub.submit({ ...command, by, at: rig.hub.stamp() } as Command));

const take = (rig: Rig, by: Principal, id: string) =>
  submit(rig, by, {
    type: 'claim.take',
    id,
    epoch: null,
    scope: null,
    ttlMs: TTL_MS_MIN,
    note: null,
    git: null,
    idempotency: null,
  });

const declare = (rig: Rig, id: string) =>
  submit(rig, ada, {
    type: 'task.declare',
    id,
    title: id,
    description: '',
    dependsOn: [],
    project: null,
    suggestedOwner: null,
    causalParent: null,
    expectedVersion: null,
  });

const statusOf = (rig: Rig, id: string) =>
  rig.until(rig.hub.ask((world) => world.plan.nodes.get(id)?.task.status ?? null));

async function waitFor(rig: Rig, by: Principal, id: string): Promise<number> {
  const wish = { type: 'claim.wait', id, scope: null, ttlMs: null, idempotency: null } as const;
  return (accepted(await submit(rig, by, wish)) as { wait: number }).wait;
}

describe('leases in a running hub', () => {
  test('[CM9] [PL11] a lease lapses by itself: the task is open again and the waiter wakes', async () => {
    const rig = await openRig(flush);
    accepted(await declare(rig, 'a'));
    accepted(await take(rig, ada, 'a'));
    const wait = await waitFor(rig, bob, 'a');
    const turn = rig.hub.watch.turn(wait, 'bob', 10 * TTL_MS_MIN);
    await rig.clock.pass(TTL_MS_MIN - 1_000);
    expect(await statusOf(rig, 'a')).toBe('in_progress');
    await rig.clock.pass(2_000);
    expect(await rig.until(turn)).toBe(true);
    expect(await statusOf(rig, 'a')).toBe('open');
    expect(await rig.take(bob)).toEqual([1]);
    expect(codeOf(await take(rig, ada, 'a'))).toBe('claim.reserved');
    accepted(await take(rig, bob, 'a'));
    expect(await statusOf(rig, 'a')).toBe('in_progress');
  });

  test('[CM9] [H6] what fell due while the hub was down falls due when it is back', async () => {
    let rig = await openRig(flush, { snapshotEvery: 1 });
    accepted(await declare(rig, 'a'));
    const { claim } = accepted(await take(rig, ada, 'a')) as { claim: { epoch: number } };
    rig = await rig.reopen();
    const held = await rig.until(rig.hub.ask((world) => world.claims.claims.get('a')?.epoch ?? 0));
    expect(held).toBe(claim.epoch);
    await rig.clock.pass(2 * TTL_MS_MIN);
    expect(await statusOf(rig, 'a')).toBe('open');
    const again = accepted(await take(rig, bob, 'a')) as { claim: { epoch: number } };
    expect(again.claim.epoch).toBeGreaterThan(claim.epoch);
  });

  test('[WT3] nobody waits for ever: a wait that lapses wakes its waiter too', async () => {
    const rig = await openRig(flush);
    accepted(await take(rig, ada, 'a'));
    const wait = await waitFor(rig, bob, 'a');
    const unwait = { type: 'claim.unwait', wait, idempotency: null } as const;
    const turn = rig.hub.watch.turn(wait, 'bob', 10 * TTL_MS_MIN);
    accepted(await submit(rig, bob, unwait));
    expect(await rig.until(turn)).toBe(true);
  });
});

test('[PL12] how often it looks, and what is idle, are settings that hold at once', async () => {
  const rig = await openRig(flush);
  accepted(await declare(rig, 'a'));
  const status = { status: 'in_progress', suggestedOwner: null, expectedVersion: null } as const;
  accepted(await submit(rig, ada, { type: 'task.update', id: 'a', ...status }));
  const change = { superviseEveryMs: 1_000, stalledAfterMs: 5_000 };
  accepted(await submit(rig, root, { type: 'space.configure', change }));
  await rig.clock.pass(4_000);
  expect(await statusOf(rig, 'a')).toBe('in_progress');
  await rig.clock.pass(3_000);
  expect(await statusOf(rig, 'a')).toBe('open');
});

test('[PL12] the supervisor looks by itself and offers again what nobody moves', async () => {
  const rig = await openRig(flush);
  accepted(await declare(rig, 'a'));
  const status = { status: 'in_progress', suggestedOwner: null, expectedVersion: null } as const;
  accepted(await submit(rig, ada, { type: 'task.update', id: 'a', ...status }));
  await rig.clock.pass(STALLED_AFTER_MS - 1_000);
  expect(await statusOf(rig, 'a')).toBe('in_progress');
  await rig.clock.pass(60_000);
  expect(await statusOf(rig, 'a')).toBe('open');
});
