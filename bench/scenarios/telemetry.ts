/**
 * What a span costs where nobody is told of it, which is everywhere unless somebody asked: beside the
 * call of the same function without one. And what it costs where somebody is.
 */

import { withSpan } from '../../src/telemetry/scope.ts';
import { createTelemetry } from '../../src/telemetry/telemetry.ts';
import { type Measure, type Scenario, takeTurns } from '../scenario.ts';

const CALLS = 2_000_000;
const QUICK_CALLS = 200_000;

let done = 0;
const work = (): number => ++done;
const inSpan = (): number => withSpan('work', null, work);

/** Nanoseconds a call. */
function timed(run: () => number, calls: number): number {
  for (let i = 0; i < 20_000; i++) run();
  const began = performance.now();
  for (let i = 0; i < calls; i++) run();
  return ((performance.now() - began) * 1e6) / calls;
}

export const spans: Scenario = {
  name: 'spans',
  async run({ isQuick, rounds }): Promise<Measure[]> {
    const calls = isQuick ? QUICK_CALLS : CALLS;
    const nobody = createTelemetry({ sinks: [] });
    const somebody = createTelemetry({ sinks: [{ write() {} }] });
    const of = await takeTurns(rounds, {
      hub: async () => ({
        none: timed(inSpan, calls),
        unheard: nobody.within({ agent: 'ada' }, () => timed(inSpan, calls)),
        told: somebody.within({ agent: 'ada' }, () => timed(inSpan, calls / 20)),
      }),
      bare: async () => {
        const ns = timed(work, calls);
        return { none: ns, unheard: ns, told: ns };
      },
    });
    await somebody.close();
    return [
      { what: 'a span with no telemetry', unit: 'ns', sides: of('none'), goal: { atMost: 100 } },
      {
        what: 'a span that no sink hears of',
        unit: 'ns',
        sides: of('unheard'),
        goal: { atMost: 100 },
      },
      { what: 'a span that is told', unit: 'ns', sides: of('told') },
    ];
  },
};
