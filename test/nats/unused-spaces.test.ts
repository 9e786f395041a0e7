/**
 * Copies that nobody uses: a server closes its own of a space that another sequences, and whoever asks it next sees
 * what was stored and who is there, as if it had been open all the time.
 */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rankServers } from '../../src/log/choose-holder.ts';
import { until } from '../e2e/deadline.ts';
import { openRpcSocket } from '../e2e/rpc-socket.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import {
  headersOf,
  NAMES,
  type Name,
  openThreeServers,
  type ThreeServers,
} from './three-servers.ts';

const UNUSED_S = 1;
/** It belongs to `a`, which sequences it. */
const SPACE = Array.from({ length: 20 }, (_, i) => `quiet-${i}`).find(
  (name) => rankServers(name, NAMES)[0] === 'a',
) as string;

describe.skipIf(NO_NATS !== null)(`spaces that nobody uses ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  beforeAll(async () => {
    three = await openThreeServers({ close_unused_after: UNUSED_S });
    await three.ask('a', three.owner('a'), 'spaces_create', { name: SPACE });
    await three.ask('a', as('bob'), 'subscribe', { pattern: 'general' });
  }, 120_000);
  afterAll(() => three?.close());

  const as = (agent: string): { agent: string; space: string } => ({ agent, space: SPACE });
  const say = (at: Name, text: string): Promise<Json> =>
    three.ask(at, as('bob'), 'send', { channel: 'general', body: { text } });
  const said = async (at: Name): Promise<string[]> => {
    const told = await three.ask(at, as('bob'), 'replay', { channel: 'general', since: 0 });
    expect(told.refused).toBeUndefined();
    return told.messages.map(({ body }: Json) => body.text);
  };
  const standing = async (at: Name): Promise<Json> => {
    const { spaces = [] } = await three.ask(at, three.owner(at), 'cluster_status', {});
    const one = spaces.find(({ space }: Json) => space === SPACE);
    return { sequencer: one?.sequencer, open: one?.positions.map(({ server }: Json) => server) };
  };
  const openAt = (names: readonly Name[], by: Name = 'a'): Promise<Json> =>
    until(
      `the space is open at ${names.join(', ')}`,
      () => standing(by),
      ({ open }) => open?.join() === names.join(),
    );

  test('[SQ29] it is closed where nobody asks for it, and told to be so; the next question has all of it, and who is there', async () => {
    expect((await say('b', 'one')).refused).toBeUndefined();
    const socket = await openRpcSocket(three.urlOf('c'), headersOf(as('ada')));
    expect((await openAt(['a', 'c'], 'b')).sequencer).toBe('a');
    expect((await say('a', 'two')).refused).toBeUndefined();
    // Who asks first after it was closed is told of her as well, whom no other server has to say again by then.
    const { agents } = await three.ask('b', as('bob'), 'presence_list', {});
    expect(agents.find((one: Json) => one.agent_id === 'ada')).toMatchObject({
      ...{ state: 'connected', evidence: { connections: 1 } },
    });
    expect(await said('b')).toEqual(['one', 'two']);
    // A connection that says nothing holds it open.
    await setTimeout(3 * UNUSED_S * 1_000);
    expect((await standing('c')).open).toContain('c');
    await socket.close();
    await openAt(['a']);
  }, 60_000);

  test('[SQ29] who asks while it is being closed is answered: nothing is refused, lost or there twice', async () => {
    const before = (await said('a')).length;
    const sent: string[] = [];
    const refused: Json[] = [];
    const servers: Name[] = ['b', 'c'];
    const senders = servers.map(async (at) => {
      for (let i = 0; i < 20; i++) {
        const text = `${at} ${i}`;
        const answer = await say(at, text);
        if (answer.refused === undefined) sent.push(text);
        else refused.push(answer);
        // About as long as it takes to be closed, a little more each time.
        await setTimeout(1_000 + i * 10);
      }
    });
    await Promise.all(senders);
    expect(refused).toEqual([]);
    const all = (await said('a')).slice(before);
    expect(all.toSorted()).toEqual(sent.toSorted());
  }, 240_000);

  test('[SQ10] [SQ29] a server that drains hands over to one that had closed its copy, and back', async () => {
    await openAt(['a']);
    const drained = await three.ask('a', three.owner('a'), 'cluster_drain', {});
    expect(drained).toMatchObject({ left: 0 });
    const { sequencer } = await until(
      'another has it',
      () => standing('b'),
      (one) => one.sequencer !== 'a' && one.sequencer != null,
    );
    expect(['b', 'c']).toContain(sequencer);
    expect((await say('a', 'while it drains')).refused).toBeUndefined();
    await openAt([sequencer as Name], 'b');
    await three.ask('a', three.owner('a'), 'cluster_drain', { undo: true });
    expect((await say('a', 'after it')).refused).toBeUndefined();
  }, 60_000);

  test('[SQ28] [SQ29] the one that has it is stopped: another opens it, and what falls due is recorded', async () => {
    const { sequencer } = await until(
      'one has it',
      () => standing('b'),
      ({ open, sequencer: one }) => open?.length === 1 && one != null,
      60_000,
    );
    const [other = 'a'] = NAMES.filter((name) => name !== sequencer);
    await three.stop(sequencer as Name);
    await until(
      'another has it, whom nobody asked for it',
      () => standing(other),
      (one) => one.sequencer != null && one.sequencer !== sequencer,
    );
    expect((await said(other)).at(-1)).toBe('after it');
  }, 120_000);
});
