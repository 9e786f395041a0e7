/** The Synapse doors of three servers, each a process, are one door: its names, its bounds, and who is at it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  connectSynapse,
  type SynapseClient,
  synapseUrl,
} from '../conformance/synapse/synapse-client.ts';
import { until, within } from '../e2e/deadline.ts';
import { NO_NATS } from './server.ts';
import { NAMES, type Name, openThreeServers, type ThreeServers } from './three-servers.ts';

const TOKEN = 'a-shared-secret';
const SOCKETS_MAX = 4;
const STRANGERS_MAX = 2;

describe.skipIf(NO_NATS !== null)(`Synapse at three servers ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  const open: SynapseClient[] = [];
  beforeAll(async () => {
    three = await openThreeServers({
      ...{ synapse_port: 0, synapse_token: TOKEN },
      ...{ synapse_clients: SOCKETS_MAX, synapse_unauthenticated: STRANGERS_MAX },
      synapse_auth_timeout_ms: 60_000,
    });
  }, 120_000);
  afterAll(() => three?.close());
  afterEach(leave);

  async function connect(at: Name, name: string, more = {}): Promise<SynapseClient> {
    const client = await connectSynapse(await synapseUrl(three.dirOf(at)), name, {
      ...{ token: TOKEN, ...more },
    });
    open.push(client);
    return client;
  }
  const silent = (at: Name): Promise<SynapseClient> => connect(at, 'x', { isBinding: false });

  async function count(one: SynapseClient, sender: string = one.name): Promise<number> {
    return (await one.ask({ type: 'who_request', sender }, 'who_snapshot')).connected_clients;
  }

  /** Until it is so at the server of each of them. */
  async function counted(wanted: number, ...by: SynapseClient[]): Promise<void> {
    for (const one of by) {
      await until(
        `${wanted} sockets are counted`,
        () => count(one),
        (all) => all === wanted,
      );
    }
  }

  async function leave(): Promise<void> {
    await Promise.all(open.splice(0).map((one) => one.close()));
  }

  test('[SQ25] a claim is handed to whoever bears the name at the door of another server', async () => {
    const ada = await connect('a', 'ada');
    const bob = await connect('b', 'bob');
    await counted(2, ada, bob);
    await ada.ask({ type: 'claim', task_id: 'T1', paths: ['src/a'] }, 'claim_granted');
    const seen = bob.next('handoff_granted');
    const asked = { type: 'handoff', task_id: 'T1', to_agent: 'bob', note: 'yours' };
    const handed = await ada.ask(asked, 'handoff_granted');
    expect(handed).toMatchObject({ owner: 'bob', previous_owner: 'ada' });
    expect((await seen).owner).toBe('bob');
    expect(await bob.ask({ type: 'release', task_id: 'T1' }, 'release_granted')).toMatchObject({
      task_id: 'T1',
    });
    // Who is there by another door was not asked, and keeps the say.
    await three.ask('c', 'cy', 'channels_heartbeat', { status: 'online', ttl: 60 });
    await ada.ask({ type: 'claim', task_id: 'T2', paths: ['src/b'] }, 'claim_granted');
    const offered = { type: 'handoff', task_id: 'T2', to_agent: 'cy' };
    expect(await ada.ask(offered, 'handoff_denied')).toMatchObject({
      reason_code: 'claim.offered',
    });
  }, 120_000);

  test('[SQ19] what one waits for goes with its name to another server', async () => {
    const bob = await connect('c', 'bob');
    await bob.ask({ type: 'claim', task_id: 'W1', paths: ['src/w'] }, 'claim_granted');
    const before = await connect('a', 'ada');
    await before.ask({ type: 'wait_request', task_id: 'W1' }, 'wait_granted');
    const after = await silent('b');
    after.send({ type: 'heartbeat', sender: 'ada', token: TOKEN, takeover: true });
    expect((await before.closed).code).toBe(4010);
    // Its next frame is carried out when it has everything that is the name's.
    await count(after, 'ada');
    const told = after.next('wait_granted', ({ free }) => free);
    await bob.ask({ type: 'release', task_id: 'W1' }, 'release_granted');
    expect(await told).toMatchObject({ task_id: 'W1' });
    // And it ends with its last socket: nobody is kept out for it.
    await after.close();
    await until(
      'it is free again',
      () => three.ask('c', 'bob', 'claims.take', { task_id: 'W1', worktree: 'w', paths: ['w'] }),
      ({ refused }) => refused === undefined,
    );
  }, 120_000);

  test('[SQ19] a takeover reaches who came to another server in the same moment', async () => {
    for (const name of ['kim', 'lea', 'mia', 'noa', 'ole']) {
      const [holder, taker] = [await silent('c'), await silent('a')];
      holder.send({ type: 'heartbeat', sender: name, token: TOKEN });
      taker.send({ type: 'heartbeat', sender: name, token: TOKEN, takeover: true });
      expect([4009, 4010]).toContain((await within('the first gives way', holder.closed)).code);
      expect((await count(taker, name)) > 0).toBe(true);
      await taker.close();
    }
  }, 120_000);

  test('[SQ24] sockets of all servers fill one door, and one that leaves makes room at any', async () => {
    const ada = await connect('a', 'ada');
    const bob = await connect('b', 'bob');
    const cy = await connect('c', 'cy');
    const dan = await connect('a', 'dan');
    await counted(SOCKETS_MAX, ada, bob, cy);
    for (const at of NAMES) {
      const late = await silent(at);
      expect((await late.closed).code, at).toBe(4013);
      expect(late.frames).toEqual([]);
    }
    await dan.close();
    await counted(SOCKETS_MAX - 1, bob);
    await connect('b', 'eve');
    await counted(SOCKETS_MAX, ada, cy);
  }, 120_000);

  test('[SQ24] so many have not shown the token at all servers together', async () => {
    const [first, second] = [await silent('a'), await silent('b')];
    expect(await refused('c')).toBe(4014);
    await second.close();
    first.send({ type: 'heartbeat', sender: 'ada', token: TOKEN });
    await first.next('welcome');
    await welcomed('c', 'cy');
  }, 120_000);

  /** What another server let go a moment ago may still be counted here: then it comes again. */
  async function welcomed(server: 'a' | 'b' | 'c', sender: string): Promise<void> {
    while ((await comes(server, sender)).code !== null);
  }

  /** And what came to another a moment ago may not be counted yet: then it leaves, and comes again. */
  async function refused(server: 'a' | 'b' | 'c'): Promise<number> {
    for (;;) {
      const { one, code } = await comes(server, 'late');
      if (code !== null) return code;
      await one.close();
    }
  }

  /** With the code that it is turned away with; null when it is welcome. */
  async function comes(server: 'a' | 'b' | 'c', sender: string) {
    const one = await silent(server);
    one.send({ type: 'heartbeat', sender, token: TOKEN });
    const isIn = one.next('welcome').then(
      () => null,
      () => one.closed.then(({ code }) => code),
    );
    return { one, code: await Promise.race([isIn, one.closed.then(({ code }) => code)]) };
  }

  test('[SQ24] [SQ14] sockets of a server that died are not counted any more', async () => {
    const ada = await connect('a', 'ada');
    const cy = await connect('c', 'cy');
    await connect('b', 'bob');
    await counted(3, ada, cy);
    await three.kill('b');
    await counted(2, ada, cy);
    await three.start('b');
    // And one that comes is told what is at the others.
    const again = await connect('b', 'bob');
    await counted(3, again);
  }, 120_000);

  /** Those who left a moment ago may still be counted, and both be refused for it: then they come again. */
  async function take(
    name: string,
    holder: SynapseClient,
  ): Promise<[SynapseClient, SynapseClient]> {
    for (;;) {
      const both: [SynapseClient, SynapseClient] = [await silent('a'), await silent('b')];
      for (const each of both)
        each.send({ type: 'heartbeat', sender: name, token: TOKEN, takeover: true });
      const refused = Promise.all(both.map(({ closed }) => closed)).then(() => null);
      const end = await within('somebody gives way', Promise.race([holder.closed, refused]));
      if (end !== null) return both;
    }
  }

  test('[SQ19] of two who take one name over at two servers in the same moment exactly one stays', async () => {
    for (const name of ['eve', 'fay', 'gus', 'hal', 'ida']) {
      const holder = await connect('c', name);
      const [one, two] = await take(name, holder);
      expect((await within('the holder gives way', holder.closed)).code).toBe(4010);
      const first = await within(
        'one of them gives way',
        Promise.race([one, two].map((each) => each.closed.then((end) => ({ each, end })))),
      );
      expect([4010, 4014]).toContain(first.end.code);
      const [stays, at] = first.each === one ? [two, 'a' as const] : [one, 'b' as const];
      // What the loser's server says next comes after whatever it said of the name.
      await connect(at, `after-${name}`);
      await until(
        'the word after it has come',
        () => count(stays, name),
        (all) => all === 2,
      );
      await leave();
    }
  }, 120_000);
});
