/** Who comes and goes is told: at once where few are here, together where they are many. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Hub } from '../../../hub/hub.ts';
import { createPace } from '../../desk/pace.ts';
import { createFanOut } from '../fan-out.ts';
import { type Bulletin, openBulletin } from './bulletin.ts';
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
