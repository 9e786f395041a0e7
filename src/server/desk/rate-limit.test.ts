/** Who is limited, and to how much, when nothing is configured and when something is. */
import { expect, test } from 'vitest';
import { createPrincipal } from '../../testing/story.ts';
import { createCallLimits } from './rate-limit.ts';

const trusted = { tokenId: 't1', principal: createPrincipal('ada') };
const untrusted = { tokenId: 't2', principal: createPrincipal('eve', { tier: 'untrusted' }) };
const owned = { tokenId: null, principal: createPrincipal('bob', { tier: 'trusted' }) };

/** How many of so many calls at one moment are let through. */
function passed(perSecond: number | null, caller: typeof trusted | typeof owned): number {
  const limits = createCallLimits(perSecond, () => 1_000);
  let count = 0;
  for (let i = 0; i < 10_000; i++) {
    if ((limits.of(caller)?.check(`default/${caller.principal.id}`) ?? null) === null) count++;
  }
  return count;
}

test('[O3] unless configured, a token is limited, an untrusted one more, and the owner’s agents are not', () => {
  expect(passed(null, trusted)).toBe(5_000);
  expect(passed(null, untrusted)).toBe(500);
  expect(passed(null, owned)).toBe(10_000);
});

test('[O3] what is configured holds for all alike', () => {
  for (const caller of [trusted, untrusted, owned]) expect(passed(7, caller)).toBe(7);
});

test('[O3] each agent has its own measure, and time brings it back', () => {
  let now = 0;
  const limits = createCallLimits(null, () => now);
  const ask = (name: string) => limits.of(untrusted)?.check(`default/${name}`) ?? null;
  for (let i = 0; i < 500; i++) ask('eve');
  expect(ask('eve')).toMatchObject({ refused: 'rate.limited', retryAt: 10 });
  expect(ask('mallory')).toBeNull();
  now = 10;
  expect(ask('eve')).toBeNull();
});
