/** Three servers, each a process, answer alike: who is there, by what evidence, and how much each agent may do. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from '../e2e/deadline.ts';
import { openEventStream } from '../e2e/event-stream.ts';
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

/** A second is promised; a machine that is loaded gets more. */
const SOON_MS = 25_000;

describe.skipIf(NO_NATS !== null)(`three servers alike ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  beforeAll(async () => {
    three = await openThreeServers();
  }, 120_000);
  afterAll(() => three?.close());

  async function rowsAt(at: Name): Promise<Json[]> {
    const { agents } = await three.ask(at, 'watcher', 'presence_list', { limit: 500 });
    return agents.filter((row: Json) => row.agent_id !== 'watcher');
  }

  /** What all three say, once they say the same and it is what is waited for. */
  async function alike(what: string, isWanted: (rows: Json[]) => boolean): Promise<Json[]> {
    const all = await until(
      what,
      () => Promise.all(NAMES.map(rowsAt)),
      (each) =>
        new Set(each.map((rows) => JSON.stringify(rows))).size === 1 && isWanted(each[0] ?? []),
      SOON_MS,
    );
    return all[0] ?? [];
  }
  const rowOf = (rows: Json[], agent: string): Json =>
    rows.find((row) => row.agent_id === agent) ?? null;

  test('[SQ13] every server answers who is there alike, with the same evidence', async () => {
    const socket = await openRpcSocket(three.urlOf('a'), headersOf('ada'));
    const stream = await openEventStream(three.urlOf('b'), headersOf('ada'), '?channels=news');
    await three.ask('c', 'bob', 'presence_report', { state: 'blocked', note: 'which port?' });
    await three.ask('a', 'cy', 'channels_heartbeat', { status: 'online', ttl: 60 });
    const rows = await alike('ada has two connections, at two servers', (found) => {
      return rowOf(found, 'ada')?.evidence.connections === 2 && rowOf(found, 'bob')?.note !== null;
    });
    expect(rowOf(rows, 'ada').state).toBe('connected');
    expect(rowOf(rows, 'bob')).toMatchObject({ state: 'blocked', note: 'which port?' });
    expect(rowOf(rows, 'bob').evidence).toMatchObject({ last_operation: 'presence_report' });
    expect(rowOf(rows, 'cy')).toMatchObject({ state: 'idle' });
    // Who is connected elsewhere can be spoken to, is not removed, and is somebody to hand a claim to.
    expect(
      (await three.ask('c', 'bob', 'agents_tell', { to: 'ada', body: { n: 1 } })).recipients,
    ).toHaveLength(1);
    const kept = await three.ask('c', 'bob', 'agents_remove', { agent_id: 'ada' });
    expect(JSON.stringify(kept.refused)).toMatch(/connected|denied/);
    await socket.close();
    stream.close();
    await alike(
      'ada is gone from everywhere',
      (found) => rowOf(found, 'ada')?.evidence.connections === 0,
    );
    // What it said of itself is over when it says something else, at whatever server.
    await three.ask('b', 'bob', 'presence_report', { state: 'busy', note: 'at it' });
    await alike('bob is busy', (found) => rowOf(found, 'bob')?.note === 'at it');
  }, 120_000);

  test('[SQ14] whoever was there by a server that died is not shown any more, and a server that comes is told', async () => {
    const socket = await openRpcSocket(three.urlOf('b'), headersOf('dan'));
    const other = await openRpcSocket(three.urlOf('c'), headersOf('eve'));
    await alike('dan and eve are there', (found) =>
      ['dan', 'eve'].every((name) => rowOf(found, name)?.state === 'connected'),
    );
    await three.kill('b');
    await until(
      'dan is shown nowhere',
      () => Promise.all((['a', 'c'] as const).map(rowsAt)),
      (each) => each.every((rows) => (rowOf(rows, 'dan')?.state ?? 'gone') === 'gone'),
      30_000,
    );
    await three.start('b');
    await alike('b knows of eve', (found) => rowOf(found, 'eve')?.state === 'connected');
    await other.close();
    socket.ws.terminate();
  }, 120_000);

  test('[SQ13] [I5] a token that one server revokes opens nothing at another, and what it had opened is closed', async () => {
    const made = await three.ask('a', three.owner('a'), 'tokens_create', { agent_id: 'tom' });
    const token = { token: made.token as string };
    const socket = await until(
      'b knows the token',
      () => openRpcSocket(three.urlOf('b'), headersOf(token)).catch(() => null),
      Boolean,
      SOON_MS,
    );
    const revoked = await three.ask('c', three.owner('c'), 'tokens_revoke', {
      token_id: made.token_id,
    });
    expect(revoked).toMatchObject({ revoked: true });
    expect(
      (await within('the socket at b is closed', socket?.closed ?? Promise.reject(), SOON_MS)).code,
    ).toBeGreaterThan(1000);
    await until(
      'b refuses it',
      () => three.ask('b', token, 'status', {}),
      (one) => one.refused !== undefined,
      SOON_MS,
    );
  }, 120_000);
});

describe.skipIf(NO_NATS !== null)(`small messages ${NO_NATS ?? ''}`, () => {
  test('[SQ15] what is too large for one message is cut into several, and all of it is known everywhere', async () => {
    const three = await openThreeServers({}, { top: 'max_payload: 32768' });
    try {
      const agents = Array.from({ length: 200 }, (_, i) => `agent-${i}`);
      const note = 'n'.repeat(1_000);
      // Many at once, so that one tick has far more to say than a message holds.
      await Promise.all(
        agents.map((agent) => three.ask('a', agent, 'presence_report', { state: 'busy', note })),
      );
      for (const at of ['b', 'c'] as const) {
        await until(
          `${at} knows what all of them said`,
          () => three.ask(at, 'watcher', 'presence_list', { limit: 500 }),
          ({ agents: rows }) => rows?.filter((row: Json) => row.note === note).length === 200,
          30_000,
        );
      }
    } finally {
      await three.close();
    }
  }, 120_000);
});

describe.skipIf(NO_NATS !== null)(`limits of three servers ${NO_NATS ?? ''}`, () => {
  const PER_SECOND = 40;
  let three: ThreeServers;
  beforeAll(async () => {
    three = await openThreeServers({ rate_limit: PER_SECOND });
  }, 120_000);
  afterAll(() => three?.close());

  test('[SQ16] one agent at three servers gets what it would at one, and at most two bursts more', async () => {
    const began = performance.now();
    let passed = 0;
    let refused = 0;
    await Promise.all(
      NAMES.flatMap((at) => [at, at]).map(async (at) => {
        while (performance.now() - began < 6_000) {
          const answer = await three.ask(at, 'mallory', 'status', {});
          if (answer.refused === undefined) passed++;
          else refused++;
        }
      }),
    );
    const seconds = (performance.now() - began) / 1_000;
    const one = PER_SECOND * seconds + PER_SECOND;
    const told = `${one.toFixed(0)} at one server, ${passed} passed, ${refused} refused`;
    // More was tried than may pass, or nothing would be shown.
    expect(refused + passed, told).toBeGreaterThan(one + 2 * PER_SECOND);
    expect(passed, told).toBeLessThanOrEqual(one + 2 * PER_SECOND);
    // And it is not starved by what others were told twice.
    expect(passed, told).toBeGreaterThan(one * 0.5);
    // Nobody else pays for it.
    expect((await three.ask('b', 'bob', 'status', {})).refused).toBeUndefined();
  }, 120_000);
});
