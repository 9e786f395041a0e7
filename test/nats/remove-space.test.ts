/** A space is removed at one of three servers: every one of them closes it and refuses its name. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../e2e/deadline.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import { headersOf, NAMES, openThreeServers, type ThreeServers } from './three-servers.ts';

describe.skipIf(NO_NATS !== null)(`a space removed ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  beforeAll(async () => {
    three = await openThreeServers();
  }, 120_000);
  afterAll(() => three?.close());

  async function streams(): Promise<string[]> {
    const connection = await connect({ servers: [`127.0.0.1:${three.node.port}`] });
    const manager = await jetstreamManager(connection);
    const names: string[] = [];
    for await (const name of manager.streams.names()) names.push(name);
    await connection.close();
    return names;
  }
  const ada = (space: string) => ({ agent: 'ada', space });
  const say = (at: (typeof NAMES)[number], space: string): Promise<Json> =>
    three.ask(at, ada(space), 'send', { channel: 'general', body: { at } });
  const code = (answer: Json): string => answer.refused?.detail?.reason ?? JSON.stringify(answer);

  test('[SP4] every server closes it, ends its feeds and refuses its name, also after a restart; its owner makes it again, empty', async () => {
    for (const at of NAMES) expect((await say(at, 'alpha')).seq).toBeGreaterThan(0);
    const feed = await fetch(`${three.urlOf('c')}/v1/stream`, { headers: headersOf(ada('alpha')) });
    const refused = await three.ask('b', 'ada', 'spaces_remove', { name: 'alpha' });
    expect(refused.refused, 'an agent removes no space').toBeDefined();
    const owner = three.owner('b');
    const removed = await three.ask('b', owner, 'spaces_remove', { name: 'alpha' });
    expect(removed).toMatchObject({
      name: 'alpha',
      kept: expect.stringContaining('synod-log-alpha'),
    });
    expect(code(await say('b', 'alpha'))).toContain('space.removed');
    for (const at of NAMES) {
      await until(
        `${at} refuses it`,
        () => say(at, 'alpha'),
        (one) => code(one).includes('space.removed'),
        30_000,
      );
    }
    const ended = await within('the feed at c has ended', feed.text(), 30_000);
    expect(ended).toContain('"reason":"space_removed"');
    // What it held is kept, and nobody writes to it any more.
    expect(await streams()).toContain(removed.kept);
    await three.kill('c');
    await three.start('c');
    expect(code(await say('c', 'alpha'))).toContain('space.removed');
    expect(
      (await three.ask('c', three.owner('c'), 'spaces_list', {})).spaces.map(
        (one: Json) => one.name,
      ),
    ).not.toContain('alpha');
    await three.ask('a', three.owner('a'), 'spaces_create', { name: 'alpha' });
    for (const at of NAMES) {
      await until(
        `${at} has it again`,
        () => three.ask(at, ada('alpha'), 'status', {}),
        (one) => one.refused === undefined,
        30_000,
      );
    }
    expect((await say('c', 'alpha')).seq).toBe(1);
    expect(await streams()).toContain(removed.kept);
  }, 120_000);

  test('[SP4] what it held is deleted where that is asked for, the default space never', async () => {
    expect((await say('a', 'beta')).seq).toBe(1);
    const owner = three.owner('c');
    const removed = await three.ask('c', owner, 'spaces_remove', { name: 'beta', delete: true });
    expect(removed).toMatchObject({ name: 'beta', kept: null });
    expect((await streams()).filter((name) => name.includes('beta'))).toEqual([]);
    await until(
      'a refuses it',
      () => say('a', 'beta'),
      (one) => code(one).includes('space.removed'),
      30_000,
    );
    const kept = await three.ask('c', owner, 'spaces_remove', { name: 'default' });
    expect(kept.refused).toBeDefined();
    expect((await say('a', 'default')).seq).toBeGreaterThan(0);
  }, 120_000);
});
