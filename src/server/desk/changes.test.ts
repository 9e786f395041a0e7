import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import type { DurableEvent } from '../../core/law/world.ts';
import type { Hub } from '../../hub/hub.ts';
import type { EventListener } from '../../hub/watch.ts';
import { CHANGES_EVERY_MS, type Changed, followChanges } from './changes.ts';
import type { Platform } from './platform.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

async function tokenOf(kind: string): Promise<Record<string, string>> {
  const { token } = await hub.admin('tokens_create', { agent_id: `a-${kind}`, kind });
  return { authorization: `Bearer ${token}` };
}

test('[WD7] a person is told which nouns changed, and nothing of what they hold', async () => {
  const socket = await openRpcSocket(hub.url, await tokenOf('human'));
  await socket.ask('stream.open', { changes: true, channels: ['nowhere'] });
  await hub.ask('ada', 'claims_take', { task_id: 'secret-task' });
  const changed = await socket.next('changed', ({ nouns }) => nouns.includes('claims'));
  expect(Object.keys(changed).sort()).toEqual(['nouns', 'position']);
  expect(changed.nouns).toEqual(expect.arrayContaining(['claims', 'plan', 'agents', 'record']));
  const { entries } = await hub.ask('ada', 'status');
  expect(changed.position).toBeLessThan(entries);
  await socket.close();
});

test('[WD7] agents and observers are refused it', async () => {
  for (const kind of ['agent', 'observer']) {
    const socket = await openRpcSocket(hub.url, await tokenOf(kind));
    const { error } = await socket.call('stream.open', { changes: true });
    expect([kind, error.data.detail.reason]).toEqual([kind, 'access.denied']);
    await socket.close();
  }
});

function scene() {
  let elapsed = 0;
  let listener: EventListener = () => {};
  let stopped = false;
  const later: { readonly at: number; readonly run: () => void }[] = [];
  const told: Changed[] = [];
  const watched = {
    watch: {
      events(heard: EventListener) {
        listener = heard;
        return () => {
          stopped = true;
        };
      },
    },
  };
  const platform = {
    elapsedMs: () => elapsed,
    after: (ms: number, run: () => void) => later.push({ at: elapsed + ms, run }),
  };
  const stop = followChanges(watched as unknown as Hub, platform as unknown as Platform, (one) =>
    told.push(one),
  );
  let position = 0;
  return {
    told,
    stop,
    isStopped: () => stopped,
    happen(...types: string[]): void {
      const events = types.map((type) => ({ type }) as unknown as DurableEvent);
      listener({} as never, position, events);
      position += events.length;
    },
    pass(ms: number): void {
      elapsed += ms;
      for (const { at, run } of later.splice(0)) {
        if (at <= elapsed) run();
        else later.push({ at, run });
      }
    },
  };
}

test('[WD7] the first news comes at once, a storm as one in 100 ms', () => {
  const { told, happen, pass } = scene();
  happen('docket.raised');
  expect(told).toEqual([{ nouns: ['docket', 'record'], position: 0 }]);
  for (let i = 0; i < 1_000; i++) happen('claim.taken', 'person.added');
  expect(told).toHaveLength(1);
  pass(CHANGES_EVERY_MS);
  expect(told[1]).toEqual({
    nouns: ['claims', 'plan', 'agents', 'people', 'record'],
    position: 2_000,
  });
  pass(CHANGES_EVERY_MS);
  expect(told).toHaveLength(2);
  happen('refusal.recorded');
  expect(told[2]).toEqual({ nouns: ['record'], position: 2_001 });
});

test('[WD7] a stream that ended is told nothing more', () => {
  const { told, happen, pass, stop, isStopped } = scene();
  happen('agent.seen');
  happen('agent.seen');
  stop();
  pass(CHANGES_EVERY_MS);
  expect([told.length, isStopped()]).toEqual([1, true]);
});
