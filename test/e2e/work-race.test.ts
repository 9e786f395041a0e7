/**
 * Sixty-four agents want one thing at the same moment, each over a socket of its own: one gets it,
 * every other learns who did, and those who wait get it one after the other.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until, within } from './deadline.ts';
import { openRpcSocket, type RpcSocket } from './rpc-socket.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

const AGENTS = 64;

let hub: RunningHub;
let sockets: RpcSocket[];
beforeAll(async () => {
  hub = await openRunningHub();
  sockets = await Promise.all(
    Array.from({ length: AGENTS }, (_, i) => openRpcSocket(hub.url, hub.as(`racer-${i}`))),
  );
});
afterAll(async () => {
  for (const socket of sockets) await socket.close();
  await hub.close();
});

const race = (input: (i: number) => object): Promise<Json[]> =>
  Promise.all(sockets.map((socket, i) => socket.call('claims.take', input(i))));

describe('a race of 64', () => {
  test.each<[what: string, reason: string, input: (i: number) => object]>([
    ['one claim', 'claim.held', () => ({ task_id: 'prize' })],
    [
      'one file under many names',
      'claim.overlap',
      (i) => ({
        task_id: `file-${i}`,
        worktree: 'race',
        paths: [['src/a.ts', 'SRC/A.ts', 'src/*.ts', 'src', '**/a.ts'][i % 5]],
      }),
    ],
    ['a whole worktree', 'claim.overlap', (i) => ({ task_id: `tree-${i}`, worktree: 'whole' })],
  ])('[CM1] for %s has one winner, and every loser learns who', async (_, reason, input) => {
    const answers = await race(input);
    const winners = answers.filter((answer) => answer.result !== undefined);
    expect(winners).toHaveLength(1);
    const { claim } = winners[0].result;
    const losers = answers.filter((answer) => answer.error !== undefined);
    expect(losers).toHaveLength(AGENTS - 1);
    for (const { error } of losers) {
      expect(error.data).toMatchObject({
        retry_after: claim.lease_expires_at,
        detail: { reason, holder: claim.owner, id: claim.task_id, epoch: claim.epoch },
      });
    }
    const { claims } = await hub.ask('watcher', 'claims.list', { owner: claim.owner });
    expect(claims).toContainEqual(claim);
  });

  test('[WT1] [WK2] those who wait get it one after the other, each once, at rising epochs', async () => {
    const socket = sockets[0] as RpcSocket;
    const { claim } = await socket.ask('claims.take', { task_id: 'baton' });
    const { entries: before } = await hub.ask('watcher', 'status');
    const got: Json[] = [];
    const runs = sockets.slice(1).map(async (racer) => {
      const answer = await racer.ask('claims.take', { task_id: 'baton', wait_ms: 60_000 });
      got.push(answer.claim);
      await racer.ask('claims.release', { task_id: 'baton', epoch: answer.claim.epoch });
    });
    await until(
      'all stand in the queue',
      () => hub.ask('watcher', 'status'),
      ({ entries }) => entries >= before + AGENTS - 1,
    );
    expect(got).toEqual([]);
    await socket.ask('claims.release', { task_id: 'baton' });
    await within('everybody has had it', Promise.all(runs));
    const epochs = [claim, ...got].map(({ epoch }) => epoch);
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    expect(new Set(epochs).size).toBe(AGENTS);
    expect(new Set(got.map(({ owner }) => owner)).size).toBe(AGENTS - 1);
  });

  test('[CM4] one that was robbed by time is fenced by whoever took over', async () => {
    const [first, second] = sockets as [RpcSocket, RpcSocket];
    const { claim } = await first.ask('claims.take', { task_id: 'relay' });
    await first.ask('claims.handoff', { task_id: 'relay', to: 'racer-1', epoch: claim.epoch });
    await second.ask('claims.take', { task_id: 'relay' });
    const late = await Promise.all(
      ['claims.update', 'claims.release', 'claims.checkpoint'].map((method) =>
        first.call(method, {
          task_id: 'relay',
          epoch: claim.epoch,
          ...(method === 'claims.checkpoint' && { checkpoint: 'x' }),
        }),
      ),
    );
    for (const { error } of late) {
      expect(error.data.detail).toMatchObject({ reason: 'claim.fenced', holder: 'racer-1' });
    }
    await second.ask('claims.release', { task_id: 'relay' });
  });
});
