/** Offers, cards and routing at both doors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDoor, DOORS, type Door } from '../../../../test/e2e/both-doors.ts';
import { until } from '../../../../test/e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';
import { OFFERS_PER_AGENT_MAX } from '../../../core/work/work-limits.ts';

describe.each(DOORS)('offers and cards over %s', (name) => {
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

  test('[OF1] [OF4] [OF6] an offer is made, refreshed, listed, withdrawn', async () => {
    const wish = { kind: 'llm', name: 'llama', capacity: 2, meta: { ctx: 8192 } };
    const offer = await door.ask('ada', 'offers.make', wish);
    expect(offer).toMatchObject({ agent_id: 'ada', key: 'ada:llm:llama', ...wish });
    expect(offer.expires_at - offer.offered_at).toBe(300);
    const again = await door.ask('ada', 'offers.make', { ...wish, ttl_seconds: 600 });
    expect(again.offered_at).toBe(offer.offered_at);
    expect(again.expires_at).toBeGreaterThan(offer.expires_at);
    await door.ask('bob', 'offers.make', { kind: 'gpu', name: 'a100' });
    const page = await door.ask('cat', 'offers.list', { limit: 1 });
    expect(page.offers).toEqual([again]);
    const rest = await door.ask('cat', 'offers.list', { after: page.next });
    expect(rest.offers.map((one: Json) => one.key)).toEqual(['bob:gpu:a100']);
    expect((await door.ask('cat', 'offers.list', { kind: 'gpu' })).offers).toHaveLength(1);
    expect((await door.ask('cat', 'offers.list', { agent_id: 'ada' })).offers).toHaveLength(1);
    expect(await door.ask('ada', 'offers.withdraw', { kind: 'llm', name: 'llama' })).toEqual(again);
    const gone = await door.refusal('ada', 'offers.withdraw', { kind: 'llm', name: 'llama' });
    expect(gone.detail.reason).toBe('offer.not-found');
    const foreign = await door.refusal('ada', 'offers.withdraw', { kind: 'gpu', name: 'a100' });
    expect(foreign.detail.reason).toBe('offer.not-found');
  });

  test('[OF3] an offer that is not refreshed is gone when its time is up', async () => {
    await door.ask('brief', 'offers.make', { kind: 'fs', name: 'tmp', ttl_seconds: 1 });
    await until(
      'the offer lapses',
      () => door.ask('cat', 'offers.list', { agent_id: 'brief' }),
      ({ offers }) => offers.length === 0,
    );
  });

  test('[OF2] [OF5] what is no offer is refused, and an agent makes so many', async () => {
    for (const bad of [
      { kind: '', name: 'x' },
      { kind: 'a\u0007', name: 'x' },
      { kind: 'k', name: 'x', capacity: 0 },
      { kind: 'k', name: 'x', capacity: 1.5 },
      { kind: 'k', name: 'x', ttl_seconds: -1 },
      { kind: 'k', name: 'x', ttl_seconds: 1e9 },
      { kind: 'k', name: 'x', meta: { big: 'x'.repeat(9_000) } },
      { kind: 'k', name: 'x', meta: [1] },
    ]) {
      expect((await door.refusal('ada', 'offers.make', bad)).detail.reason).toBe('input.invalid');
    }
    for (let i = 0; i < OFFERS_PER_AGENT_MAX; i++) {
      await door.ask('rich', 'offers.make', { kind: 'k', name: `${i}` });
    }
    const { detail } = await door.refusal('rich', 'offers.make', { kind: 'k', name: 'more' });
    expect(detail).toMatchObject({ reason: 'limit.reached', limit: 'OFFERS_PER_AGENT_MAX' });
  });

  test('[CA1] [CA3] a card is shown while its agent is here, and goes with it', async () => {
    await hub.ask('carla', 'channels.heartbeat', { status: 'online' });
    const card = await door.ask('carla', 'cards.advertise', {
      card: {
        description: 'writes Rust',
        skills: ['rust', { id: 'sql', tags: ['postgres'] }],
        task_classes: ['heavy'],
        model: 'big',
        meta: { x: 1 },
      },
    });
    expect(card).toMatchObject({
      agent_id: 'carla',
      name: 'carla',
      description: 'writes Rust',
      task_classes: ['heavy'],
      meta: { x: 1 },
    });
    expect(card.skills.map((one: Json) => one.id)).toEqual(['rust', 'sql']);
    const { cards } = await door.ask('bob', 'cards.manifest');
    expect(cards).toEqual([card]);
    await hub.ask('carla', 'channels.heartbeat', { status: 'offline' });
    expect((await door.ask('bob', 'cards.manifest')).cards).toEqual([]);
    await hub.ask('carla', 'channels.heartbeat', { status: 'online' });
    await door.ask('carla', 'cards.advertise', { card: {} });
    expect(await door.ask('carla', 'cards.withdraw')).toEqual({ withdrawn: true });
    const none = await door.refusal('carla', 'cards.withdraw');
    expect(none.detail.reason).toBe('card.not-found');
    for (const bad of [{ skill: [] }, { skills: 'rust' }, { description: 7 }]) {
      const { detail } = await door.refusal('carla', 'cards.advertise', { card: bad });
      expect(detail.reason).toBe('input.invalid');
    }
    const huge = await door.refusal('carla', 'cards.advertise', {
      card: { description: 'x'.repeat(40_000) },
    });
    expect(huge.detail.reason).toBe('limit.reached');
  });

  test('[CA5] routing chooses who can and is free, and explains', async () => {
    for (const [agent, skills] of [
      ['r-idle', ['sql']],
      ['r-busy', ['sql', 'rust']],
      ['r-other', ['poetry']],
    ] as const) {
      await door.ask(agent, 'presence.report', { state: agent === 'r-busy' ? 'busy' : 'idle' });
      await door.ask(agent, 'cards.advertise', { card: { skills } });
    }
    const route = await door.ask('bob', 'cards.route', { skills: ['sql'] });
    expect(route.chosen).toMatchObject({ agent_id: 'r-idle', availability: 'idle', missing: [] });
    expect(route.runners_up.map((one: Json) => one.agent_id)).toEqual(['r-busy']);
    expect(route.why).toContain('r-idle is idle');
    const both = await door.ask('bob', 'cards.route', { skills: ['juggling'] });
    expect(both.chosen).toBeNull();
    expect(both.why).toMatch(/^nobody/);
    const read = await door.ask('bob', 'cards.route', {
      text: 'please refactor the rust parser now',
    });
    expect(read.class).toBe('heavy');
  });
});
