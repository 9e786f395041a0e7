/**
 * Writes that are refused make no space, at one server of several or at many at once: no streams, no pointer and no lease are
 * left, and what another server has stored meanwhile stays.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Link, openLink } from '../../src/log/nats/link.ts';
import { type NatsPlace, parseNatsUrl } from '../../src/log/nats/place.ts';
import { openNatsLog } from '../../src/log/nats.ts';
import { until } from '../e2e/deadline.ts';
import { isRunning, startHubProcess } from '../e2e/hub-process.ts';
import { fetchReply, type Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import {
  headersOf,
  NAMES,
  type Name,
  openThreeServers,
  type ThreeServers,
} from './three-servers.ts';

describe.skipIf(NO_NATS !== null)(`spaces that nobody made ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  let link: Link;
  const place = (): NatsPlace => parseNatsUrl(three.store) as NatsPlace;
  beforeAll(async () => {
    three = await openThreeServers();
    link = await openLink(place());
  }, 120_000);
  afterAll(async () => {
    await link?.release();
    await three?.close();
  });

  const as = (space: string) => ({ agent: 'ada', space });
  const refusedWrite = (at: Name, space: string): Promise<Json> =>
    three.ask(at, as(space), 'send', { channel: 'sox/acks', body: {} });
  const write = (at: Name, space: string): Promise<Json> =>
    three.ask(at, as(space), 'send', { channel: 'general', body: { at } });
  const reasonOf = (answer: Json): string => answer.refused?.detail?.reason ?? 'done';
  const spacesAt = async (at: Name): Promise<string[]> =>
    (await three.ask(at, three.owner(at), 'spaces_list', {})).spaces.map((one: Json) => one.name);

  /** Streams and subjects of NATS that are of a space of that name. */
  async function leftOf(space: string): Promise<string[]> {
    const left: string[] = [];
    for await (const { config } of link.manager.streams.list()) {
      if (config.name.includes(`-${space}`)) left.push(config.name);
      const { state } = await link.manager.streams.info(config.name, { subjects_filter: '>' });
      left.push(...Object.keys(state.subjects ?? {}).filter((one) => one.includes(`.${space}`)));
    }
    return left;
  }

  test('[SP3] a refused write leaves nothing at NATS, at one server or at all of them at the same time', async () => {
    expect(reasonOf(await refusedWrite('a', 'misspelt'))).toBe('channel.reserved');
    expect(await leftOf('misspelt')).toEqual([]);
    for (let round = 0; round < 5; round++) {
      const all = [...NAMES, ...NAMES].map((at) => refusedWrite(at, `wrong${round}`));
      const reasons = new Set((await Promise.all(all)).map(reasonOf));
      expect([...reasons]).toEqual(['channel.reserved']);
      expect(await leftOf(`wrong${round}`)).toEqual([]);
    }
    for (const at of NAMES) expect(await spacesAt(at)).toEqual(['default']);
    const read = await three.ask('b', as('misspelt'), 'recv', {});
    expect(reasonOf(read)).toBe('space.not-found');
    // The name is as free as it was.
    expect((await write('c', 'misspelt')).seq).toBe(1);
  }, 60_000);

  test('[SP3] [CH1] what one server stores stays, whatever the others are refused at the same time', async () => {
    for (let round = 0; round < 8; round++) {
      const space = `mixed${round}`;
      const at = NAMES[round % 3] as Name;
      const answers = await Promise.all([
        ...NAMES.map((one) => refusedWrite(one, space)),
        write(at, space),
        ...NAMES.map((one) => refusedWrite(one, space)),
      ]);
      expect(answers.map(reasonOf).toSorted().slice(0, 6)).toEqual(
        Array.from({ length: 6 }, () => 'channel.reserved'),
      );
      expect(answers[3].seq).toBe(1);
      for (const one of NAMES) {
        const told = await until(
          `${one} has it`,
          () => three.ask(one, as(space), 'list_channels', {}),
          (answer) => answer.refused === undefined,
        );
        expect(told.channels).toMatchObject([{ name: 'general' }]);
        expect((await write(one, space)).seq).toBeGreaterThan(1);
      }
    }
  }, 120_000);

  test('[SP3] who asks for the space itself has it at every server, though the first write was refused', async () => {
    const owner = three.owner('b');
    await Promise.all([
      refusedWrite('a', 'wanted'),
      three.ask('b', owner, 'spaces_create', { name: 'wanted' }),
      refusedWrite('c', 'wanted'),
    ]);
    for (const at of NAMES) {
      await until(
        `${at} has it`,
        () => spacesAt(at),
        (names) => names.includes('wanted'),
      );
      expect(reasonOf(await refusedWrite(at, 'wanted'))).toBe('channel.reserved');
    }
    for (const at of NAMES) expect(await spacesAt(at)).toContain('wanted');
  }, 60_000);

  test('[SP3] so it is with a server that has the store for itself', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'synod-alone-'));
    const store = three.store.replace('/synod?', '/alone?');
    const alone = await startHubProcess(dir, { args: ['--store', store, '--auth', 'open'] });
    if (!isRunning(alone)) throw new Error(alone.stderr);
    const send = (channel: string): Promise<Json> =>
      fetchReply(`${alone.url}/v1/ops/send`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headersOf(as('lonely')) },
        body: JSON.stringify({ channel, body: {} }),
      });
    expect((await send('sox/acks')).body.detail.reason).toBe('channel.reserved');
    expect(await leftOf('lonely')).toEqual([]);
    expect((await send('general')).status).toBe(200);
    await alone.stop();
    rmSync(dir, { recursive: true, force: true });
  }, 60_000);

  test('[SP3] of two that make it the last that stored nothing takes it away, and one that stored keeps it', async () => {
    const open = () => openNatsLog(place(), 'twice', { mayUnmake: true });
    const [first, second] = [await open(), await open()];
    expect(await first.making?.unmake()).toBe(true);
    await second.append(0, ['stored']);
    await second.making?.settle();
    expect(await second.making?.unmake()).toBe(false);
    const third = await open();
    expect([third.making, third.length]).toEqual([null, 1]);
    for (const log of [first, second, third]) await log.close();

    // Whoever found that it is nobody's was stopped before its streams were gone.
    const left = await openNatsLog(place(), 'halfway', { mayUnmake: true });
    await left.close();
    const before = (await leftOf('halfway')).filter((one) => one.includes('-log-'));
    const subject = 'synod.spaces.halfway';
    const pointer = await link.manager.streams.getMessage('synod-spaces', {
      last_by_subj: subject,
    });
    const nobodys = { ...JSON.parse(Buffer.from(pointer?.data ?? []).toString()), making: 0 };
    await link.js.publish(subject, JSON.stringify(nobodys));
    const anew = await openNatsLog(place(), 'halfway', { mayUnmake: true });
    await anew.close();
    const after = (await leftOf('halfway')).filter((one) => one.includes('-log-'));
    expect([before.length, after.length]).toEqual([1, 1]);
    expect(after).not.toEqual(before);

    const again = () => openNatsLog(place(), 'thrice', { mayUnmake: true });
    const logs = [await again(), await again(), await again()];
    for (const log of logs) {
      expect(await leftOf('thrice')).not.toEqual([]);
      expect(await log.making?.unmake()).toBe(true);
    }
    expect(await leftOf('thrice')).toEqual([]);
    for (const log of logs) await log.close();
  }, 60_000);
});
