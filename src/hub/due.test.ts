/** Time passes and no timer fires: whatever is asked next still meets nothing that has lapsed. */
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Principal } from '../core/law/principal.ts';
import type { Command } from '../core/law/world.ts';
import { RESERVATION_MS, TTL_MS_MIN } from '../core/work/claim/claim-limits.ts';
import { OFFER_TTL_MS } from '../core/work/work-limits.ts';
import { openRig, type Rig } from '../testing/rig.ts';
import { accepted, codeOf, createPrincipal } from '../testing/story.ts';
import { DUE_EVENTS_MAX } from './batch.ts';

const ada = createPrincipal('ada');
const bob = createPrincipal('bob');
const eve = createPrincipal('eve');
const open = (): Promise<Rig> => openRig(() => setImmediate());

type Bare<C> = C extends Command ? Omit<C, 'by' | 'at'> : never;
const submit = (rig: Rig, by: Principal, command: Bare<Command>) =>
  rig.until(rig.hub.submit({ ...command, by, at: rig.hub.stamp() } as Command));

const UNKEYED = { epoch: null, ttlMs: null, note: null, idempotency: null } as const;
const take = (rig: Rig, by: Principal, id: string) =>
  submit(rig, by, { ...UNKEYED, type: 'claim.take', id, scope: null, git: null });
const wait = (rig: Rig, by: Principal, id: string) =>
  submit(rig, by, { type: 'claim.wait', id, scope: null, ttlMs: null, idempotency: null });
const beat = (rig: Rig, by: Principal, ttlMs: number) =>
  submit(rig, by, { type: 'presence.beat', status: 'online', ttlMs });

test('[H10] [CM9] a claim that lapsed is anybody’s for the next command', async () => {
  const rig = await open();
  const asked = { ...UNKEYED, type: 'claim.take', id: 'a', scope: null, git: null } as const;
  accepted(await submit(rig, ada, { ...asked, ttlMs: TTL_MS_MIN }));
  rig.clock.jump(TTL_MS_MIN);
  accepted(await take(rig, bob, 'a'));
});

test('[H10] [WT3] a turn that was not used has passed on for the next command', async () => {
  const rig = await open();
  accepted(await take(rig, ada, 'a'));
  accepted(await wait(rig, bob, 'a'));
  accepted(await wait(rig, eve, 'a'));
  const release = { ...UNKEYED, type: 'claim.release', id: 'a', evidence: null } as const;
  accepted(await submit(rig, ada, { ...release, isForced: false }));
  rig.clock.jump(RESERVATION_MS);
  expect(codeOf(await take(rig, bob, 'a'))).toBe('claim.reserved');
  accepted(await take(rig, eve, 'a'));
});

test('[H10] [N5] a message whose lease lapsed is owed again for the next command', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  await rig.send(ada, 'a');
  expect(await rig.take(bob, 1_000)).toEqual([1]);
  rig.clock.jump(1_000);
  const answer = await submit(rig, bob, { type: 'subscription.remove', patterns: ['a'] });
  expect(answer).toMatchObject({ cleared: 1 });
});

test('[H10] [OF3] an offer that lapsed is not there for the next command', async () => {
  const rig = await open();
  const offer = { kind: 'llm', name: 'x' } as const;
  const wishes = { capacity: 1, meta: null, ttlMs: null };
  accepted(await submit(rig, ada, { type: 'offer.make', ...offer, ...wishes }));
  rig.clock.jump(OFFER_TTL_MS);
  expect(codeOf(await submit(rig, ada, { type: 'offer.withdraw', ...offer }))).toBe(
    'offer.not-found',
  );
});

test('[H10] [PR2] an agent that fell silent is gone for the next command', async () => {
  const rig = await open();
  accepted(await beat(rig, bob, 1_000));
  accepted(await take(rig, ada, 'a'));
  rig.clock.jump(3_000);
  const handed = await submit(rig, ada, { ...UNKEYED, type: 'claim.hand-off', id: 'a', to: 'bob' });
  expect(codeOf(handed)).toBe('claim.recipient-absent');
});

test('[H10] a question meets what is due as a command does, with nothing else under way', async () => {
  const rig = await open();
  await rig.subscribe(bob, 'a');
  await rig.send(ada, 'a');
  await rig.take(bob, 1_000);
  await beat(rig, ada, 1_000);
  rig.clock.jump(3_000);
  const seen = rig.hub.ask((world) => [
    world.agents.get('bob')?.ready.size,
    world.agents.get('ada')?.presence.state,
  ]);
  expect(await rig.until(seen)).toEqual([1, 'offline']);
});

test('[H10] much that is due at once is recorded in bounded batches, and before what was asked', async () => {
  const rig = await open();
  const agents = DUE_EVENTS_MAX;
  const beats = Array.from({ length: agents }, (_, i) =>
    rig.hub.submit({
      type: 'presence.beat',
      by: createPrincipal(`agent${i}`),
      at: rig.hub.stamp(),
      status: 'online',
      ttlMs: 1_000,
    }),
  );
  await rig.until(Promise.all(beats));
  const before = rig.disk.batches.length;
  rig.clock.jump(3_000);
  const sent = rig.send(ada, 'a');
  const offline = await rig.until(
    rig.hub.ask(
      (world) =>
        [...world.agents.values()].filter(
          ({ presence }) => presence.beatAt > 0 && presence.state === 'offline',
        ).length,
    ),
  );
  const { position } = accepted(await sent);
  const after = rig.disk.batches.slice(before);
  const events = after.flatMap(({ entries }) => entries);
  expect(offline).toBe(agents);
  // Each is told twice, stale and offline, with a message each time.
  expect(events).toHaveLength(4 * agents + 1);
  expect(events.at(-1)).toContain('message.sent');
  expect(position).toBe(rig.hub.stats.entries - 1);
  for (const { entries } of after) {
    expect(entries.length).toBeLessThanOrEqual(DUE_EVENTS_MAX);
  }
});

test('[H22] what is due while the clock catches up comes in twice its time, and not when it has caught up', async () => {
  const HOUR = 3_600_000;
  const rig = await open();
  await rig.subscribe(bob, 'a');
  rig.clock.jump(HOUR);
  await rig.send(ada, 'a');
  rig.clock.jump(-HOUR);
  expect(await rig.take(bob, 1_000)).toEqual([1]);
  const leased = async (): Promise<number> => (await rig.take(bob, 1_000)).length;
  await rig.clock.pass(1_900);
  expect(await leased()).toBe(0);
  await rig.clock.pass(200);
  expect(await leased()).toBe(1);
  // A server that comes after one whose clock was ahead does the same.
  const again = await rig.reopen();
  await again.clock.pass(2_100);
  expect((await again.take(bob, 1_000)).length).toBe(1);
});
