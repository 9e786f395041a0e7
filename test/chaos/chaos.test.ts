/**
 * A short run under faults, and runs on servers that lie, which must not pass. The long ones are `npm run chaos`; what they
 * found is in docs/CHAOS.md.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NO_NATS } from '../nats/server.ts';
import type { Done } from './history.ts';
import { LIES, type Lie, lieAbout } from './liar.ts';
import { openTheatre, runChaos, type Theatre } from './run.ts';

const FAULTS = [
  ...['kill-sequencer', 'kill-leader', 'pause-sequencer', 'pause-node', 'cut-node', 'cut-server'],
  'clock',
];

/** What each lie is told as. */
const TOLD: Readonly<Record<Lie, RegExp>> = {
  drop: /^(lost|moved): send/m,
  twice: /^twice: send/m,
  holder: /^lock-\d-holder: no order explains take/m,
  exchange: /^value-\d-exchange: no order explains set/m,
  turn: /^turn: handed out twice: begin t\d+/m,
  step: /^run: (lost|a step happened twice): \w+ of chain/m,
  gate: /^g\d+@gate: no order explains (approve|deny)/m,
};

function sentIn(done: readonly Done[]): number {
  return done.filter(({ act, outcome }) => act.op === 'send' && outcome === 'ok').length;
}

if (NO_NATS !== null) process.stderr.write(`NO CHAOS: ${NO_NATS}\n`);

describe.skipIf(NO_NATS !== null)(`three servers on three nodes ${NO_NATS ?? ''}`, () => {
  let theatre: Theatre;

  beforeAll(async () => {
    theatre = await openTheatre(false, () => {});
  }, 120_000);
  afterAll(() => theatre?.close(), 60_000);

  test('[CH1] [CH2] are killed, paused, cut off and misled, and keep what is promised', async () => {
    const faults: string[] = [];
    const run = await runChaos(theatre, {
      ...{ name: '-f', seed: 14, seconds: 8, actors: 6, spaces: 2, faults: FAULTS },
      tell: (line) => void faults.push(line),
      isEnough: (done) => sentIn(done) > 20,
    });
    expect([run.broken, faults]).toEqual([[], faults]);
    expect(sentIn(run.history.done)).toBeGreaterThan(20);
  }, 180_000);

  // Side by side, each in a space of its own: nothing befalls the servers here.
  test.concurrent.each(LIES)(
    '[CH1] a server that lies is found out: %s',
    async (lie) => {
      let lies = 0;
      const run = await runChaos(theatre, {
        ...{ name: `-${lie}`, seed: 3, seconds: 1, actors: 4, faults: [], tell: () => {} },
        ...{ space: lie, leaseMs: 1_000 },
        ask: (ask, chance) => lieAbout(lie, ask, chance, () => lies++),
        isEnough: () => lies > 2,
      });
      expect(run.broken.join('\n')).toMatch(TOLD[lie]);
    },
    120_000,
  );
});
