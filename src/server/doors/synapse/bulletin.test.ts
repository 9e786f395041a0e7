/** Who comes and goes is told: at once where few are here, together where they are many, also where the record is slow. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Hub } from '../../../hub/hub.ts';
import type { EventListener } from '../../../hub/watch.ts';
import { createPace } from '../../desk/pace.ts';
import { createFanOut } from '../fan-out.ts';
import { type Bulletin, type BulletinOptions, openBulletin } from './bulletin.ts';
import type { SynapseClient } from './client.ts';
import { createSpeech } from './speech.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});

afterEach(() => {
  vi.useRealTimers();
});

interface Fixture {
  readonly bulletin: Bulletin;
  /** How many times each socket was told since this was asked last. */
  told(): number;
}

function open(sockets: number): Fixture {
  let count = 0;
  const clients = new Set<SynapseClient>();
  for (let n = 0; n < sockets; n++) {
    const peer = { sendFrames: () => void count++ };
    clients.add({ isWelcome: true, isBusy: false, peer } as unknown as SynapseClient);
  }
  const hub = { space: 'default', watch: { events: () => () => {} }, ask: async () => [] };
  const bulletin = openBulletin({
    ...{ hub: hub as unknown as Hub, clients, names: new Map() },
    speech: createSpeech(() => 0),
    report: () => {
      throw new Error('nothing fails here');
    },
    fanOut: createFanOut(createPace()),
  });
  const told = () => {
    const tellings = count / sockets;
    count = 0;
    return tellings;
  };
  return { bulletin, told };
}

test('[SY15] of a crowd who comes is gathered for a moment; the first is told at once', async () => {
  const { bulletin, told } = open(200);
  for (let n = 0; n < 20; n++) {
    bulletin.joined(`comes-${n}`, true);
    await turn();
    await turn();
  }
  expect(told()).toBe(1);
  await vi.advanceTimersByTimeAsync(20);
  await turn();
  expect(told()).toBe(1);
  // Nobody came since, and the moment is over: the next is a first one.
  await vi.advanceTimersByTimeAsync(20);
  await turn();
  bulletin.joined('late', true);
  expect(told()).toBe(1);
  bulletin.close();
  expect(vi.getTimerCount()).toBe(0);
});

test('[SY15] where few are, nobody is gathered for longer than writing takes', async () => {
  const { bulletin, told } = open(8);
  for (let n = 0; n < 5; n++) {
    bulletin.joined(`comes-${n}`, true);
    await turn();
    await turn();
  }
  expect(told()).toBe(5);
  bulletin.close();
});

function openScene() {
  const told: string[] = [];
  let hear: EventListener = () => {};
  const options = {
    hub: {
      space: 's',
      ask: async () => [],
      watch: {
        events(listener: EventListener) {
          hear = listener;
          return () => {};
        },
      },
    },
    speech: {
      say: (_type: string, _target: string, payload: string) => {
        told.push(payload);
        return '{}';
      },
    },
    clients: new Set(),
    names: new Map(),
    report() {},
    fanOut: { spoken() {}, afterAll: (run: () => void) => run() },
  };
  const bulletin = openBulletin(options as unknown as BulletinOptions);
  const record = (agent: string, state: 'online' | 'offline'): void => {
    const event = { type: 'presence.changed', agent, state };
    hear(...([{}, 0, [event]] as unknown as Parameters<EventListener>));
  };
  return { bulletin, told, record };
}

test('[SY15] who has left is not said to come when the record says so late', async () => {
  const { bulletin, told, record } = openScene();
  const { promise, resolve } = Promise.withResolvers<void>();
  bulletin.joined('ada', true);
  bulletin.left('ada', promise);
  record('ada', 'online');
  expect(bulletin.roster()).toEqual([]);
  record('ada', 'offline');
  expect(told).toEqual(['ada joined', 'ada left']);
  // By another door, and after it.
  record('ada', 'online');
  expect(told.at(-1)).toBe('ada joined');
  resolve();
  await promise;
  expect(bulletin.roster()).toEqual(['ada']);
});

test('[SY15] who left and of whom nothing more is recorded may come again', async () => {
  const { bulletin, told, record } = openScene();
  bulletin.joined('ada', true);
  const recorded = Promise.resolve();
  bulletin.left('ada', recorded);
  await recorded;
  record('ada', 'online');
  expect(told).toEqual(['ada joined', 'ada left', 'ada joined']);
  const never = new Promise(() => {});
  bulletin.left('ada', never);
  bulletin.joined('ada', true);
  record('ada', 'offline');
  expect(told.slice(3)).toEqual(['ada left', 'ada joined', 'ada left']);
});
