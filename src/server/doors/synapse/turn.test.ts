/** Refusals at the Synapse door advise what its clients can do. */
import { expect, test } from 'vitest';
import { createClaimStory, scopeOf } from '../../../testing/claim-story.ts';
import { inFrames } from './turn.ts';

test('[SY14] a refused claim, overlap or turn advises the frames of the wire, and no operation of another door', () => {
  const story = createClaimStory();
  story.take('ada', 'hers', 'src/a.ts');
  const refusals = [
    story.do('bob', 'claim.take', { id: 'hers', scope: null }),
    story.tryTake('bob', 'his', 'src/a.ts'),
  ];
  story.ask('bob', 'claim.wait', { id: 'hers', scope: scopeOf('src/a.ts') });
  story.release('ada', 'hers');
  refusals.push(story.tryTake('eve', 'late', 'src/a.ts'));
  for (const refusal of refusals) {
    if (!('refused' in refusal)) throw new Error('it was not refused');
    expect(refusal.message).toContain('claims.wait');
    expect(inFrames(refusal.message)).toContain('wait_request');
    expect(inFrames(refusal.message)).not.toMatch(/claims\.|wait_ms/);
  }
});

test('[SY14] what the wire has no frame for is advised as a command at a terminal', () => {
  expect(
    inFrames('OFFERS_MAX is 1000; take some back with offers.withdraw, or let them expire'),
  ).toBe('OFFERS_MAX is 1000; take some back with synod call offers.withdraw, or let them expire');
  expect(inFrames('move it with plan.update; see src/a.ts')).toBe(
    'move it with ledger_task_update; see src/a.ts',
  );
});
