import { expect, test } from 'vitest';
import { createClaimStory, refusalOf, scopeOf } from '../../../testing/claim-story.ts';
import { codeOf } from '../../../testing/story.ts';
import { RESERVATION_MS, WAITS_PER_AGENT_MAX } from './claim-limits.ts';

const HOUR = 3_600_000;

type Story = ReturnType<typeof createClaimStory>;
const reservations = (story: Story) =>
  story.events.flatMap((event) => (event.type === 'wait.reserved' ? [event.agent] : []));

test('[WT1] whoever came first is next, whether by release, lapse or a narrowed scope', () => {
  for (const free of [
    (story: Story) => story.release('ada', 't'),
    (story: Story) => story.pass(HOUR),
    (story: Story) => story.take('ada', 't', 'docs'),
    (story: Story) => story.do('root', 'claim.release', { id: 't', isForced: true }, 'admin'),
  ]) {
    const story = createClaimStory();
    story.take('ada', 't', 'src');
    expect(
      story.ask('bob', 'claim.wait', { scope: scopeOf('src/a'), ttlMs: 2 * HOUR }),
    ).toMatchObject({ isReserved: false, ahead: 0 });
    expect(story.ask('eve', 'claim.wait', { scope: scopeOf('src'), ttlMs: 2 * HOUR }).ahead).toBe(
      1,
    );
    story.ask('zoe', 'claim.wait', { scope: scopeOf('src/b'), ttlMs: 2 * HOUR });
    free(story);
    // eve wants some of what bob is next for; zoe does not.
    expect(reservations(story)).toEqual(['bob', 'zoe']);
  }
});

test('[WT2] while a turn lasts nobody else may take it, and taking it ends the wait', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  story.ask('bob', 'claim.wait', { id: 't' });
  story.release('ada', 't');
  const refusal = refusalOf(story.tryTake('eve', 'mine', 'src/deep/x'));
  expect(refusal).toMatchObject({
    refused: 'claim.reserved',
    retryAt: story.at + RESERVATION_MS,
    detail: { holder: 'bob' },
  });
  expect(codeOf(story.do('eve', 'claim.take', { id: 't' }))).toBe('claim.reserved');
  expect(codeOf(story.tryTake('eve', 'other', 'docs'))).toBeNull();
  story.take('bob', 't', 'src');
  expect(story.events.at(-1)).toMatchObject({ type: 'wait.ended', agent: 'bob', reason: 'taken' });
  expect(story.book.waits.size).toBe(0);
});

test('[WT2] to wait for what is free is to be next at once', () => {
  const story = createClaimStory();
  expect(story.ask('bob', 'claim.wait', { scope: scopeOf('src') })).toMatchObject({
    isReserved: true,
  });
  expect(codeOf(story.tryTake('eve', 'e', 'src/x'))).toBe('claim.reserved');
  expect(codeOf(story.tryTake('bob', 'b', 'src/x'))).toBeNull();
  // The rest of what bob was next for is free again.
  expect(codeOf(story.tryTake('eve', 'e', 'src/y'))).toBeNull();
});

test('[WT6] asking again keeps the place in the queue and never shortens its time', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  const first = story.ask('bob', 'claim.wait', { id: 't', ttlMs: HOUR });
  story.ask('eve', 'claim.wait', { id: 't', ttlMs: HOUR });
  const again = story.ask('bob', 'claim.wait', { id: 't', ttlMs: 60_000 });
  expect(again).toMatchObject({ wait: first.wait, ahead: 0, until: first.until });
  const longer = story.ask('bob', 'claim.wait', { id: 't', ttlMs: 2 * HOUR });
  expect(longer.until).toBeGreaterThan(first.until);
});

test('[WT3] a turn that is not used passes to the next, and so does one given up', () => {
  const story = createClaimStory();
  story.take('ada', 't', 'src');
  for (const agent of ['bob', 'eve', 'zoe']) story.ask(agent, 'claim.wait', { id: 't' });
  story.release('ada', 't');
  story.pass(RESERVATION_MS);
  expect(reservations(story)).toEqual(['bob', 'eve']);
  expect(story.ask('eve', 'claim.unwait', {}).ended).toHaveLength(1);
  expect(reservations(story)).toEqual(['bob', 'eve', 'zoe']);
  expect(codeOf(story.do('eve', 'claim.unwait', { wait: 999 }))).toBe('wait.not-found');
  story.take('zoe', 't', 'src');
});

test('[WT3] a wait lapses by its own time, and asking again keeps the place', () => {
  const story = createClaimStory();
  story.ask('ada', 'claim.take', { id: 't', scope: scopeOf('src'), ttlMs: 4 * HOUR });
  const first = story.ask('bob', 'claim.wait', { id: 't' });
  story.ask('eve', 'claim.wait', { id: 't' });
  story.pass(HOUR - 1);
  expect(story.ask('bob', 'claim.wait', { id: 't' })).toMatchObject({ wait: first.wait, ahead: 0 });
  story.pass(2);
  expect(story.events.at(-1)).toMatchObject({ type: 'wait.ended', agent: 'eve', reason: 'lapsed' });
  expect([...story.book.waits.keys()]).toEqual([first.wait]);
});

test('[WT4] a circle of waiting is refused and named, whatever its length', () => {
  const story = createClaimStory();
  const agents = ['ada', 'bob', 'eve', 'zoe'];
  for (const agent of agents) story.take(agent, `${agent}-work`, agent);
  story.ask('ada', 'claim.wait', { id: 'bob-work' });
  story.ask('bob', 'claim.wait', { scope: scopeOf('eve/x', 'nowhere') });
  story.ask('eve', 'claim.wait', { id: 'zoe-work' });
  const refusal = refusalOf(story.do('zoe', 'claim.wait', { scope: scopeOf('ada/**') }));
  expect(refusal).toMatchObject({
    refused: 'claim.cycle',
    detail: { cycle: ['zoe', 'ada', 'bob', 'eve', 'zoe'] },
  });
  expect(refusal.message).toContain('bob waits for eve-work, held by eve');
  story.release('eve', 'eve-work');
  expect(codeOf(story.do('zoe', 'claim.wait', { id: 'ada-work' }))).toBeNull();
});

test('[WT4] a take or a hand-off that would close a circle is refused too', () => {
  const story = createClaimStory();
  story.take('ada', 'a', 'a');
  story.take('bob', 'b', 'b');
  story.ask('ada', 'claim.wait', { scope: scopeOf('b', 'c') });
  story.ask('eve', 'claim.wait', { id: 'a' });
  expect(codeOf(story.tryTake('eve', 'e', 'c'))).toBe('claim.cycle');
  expect(codeOf(story.handOver('bob', 'b', 'eve'))).toBe('claim.cycle');
  story.ask('eve', 'claim.unwait', {});
  expect(codeOf(story.tryTake('eve', 'e', 'c'))).toBeNull();
});

test('[WT4] to wait for oneself is refused, and so is to wait for nothing', () => {
  const story = createClaimStory();
  story.take('ada', 'a', 'a');
  expect(codeOf(story.do('ada', 'claim.wait', { id: 'a' }))).toBe('claim.held');
  expect(codeOf(story.do('ada', 'claim.wait', {}))).toBe('scope.invalid');
  expect(codeOf(story.do('ada', 'claim.wait', { id: 'b', ttlMs: Number.NaN }))).toBe('ttl.invalid');
  expect(codeOf(story.do('ada', 'claim.wait', { scope: scopeOf('../x') }))).toBe('scope.escape');
});

test('[WT5] waits are bounded for each agent', () => {
  const story = createClaimStory();
  story.take('ada', 'a');
  for (let i = 0; i < WAITS_PER_AGENT_MAX; i++)
    story.ask('bob', 'claim.wait', { scope: scopeOf(`f${i}`) });
  expect(story.do('bob', 'claim.wait', { scope: scopeOf('more') })).toMatchObject({
    refused: 'limit.reached',
    detail: { limit: 'WAITS_PER_AGENT_MAX' },
  });
});

test('[WT1] a hand-off to a waiter ends its wait', () => {
  const story = createClaimStory();
  story.take('ada', 'a', 'src');
  story.ask('bob', 'claim.wait', { id: 'a' });
  story.handOver('ada', 'a', 'bob');
  expect(story.events.at(-1)).toMatchObject({ type: 'wait.ended', agent: 'bob', reason: 'taken' });
});

test('[CM7] refused, waits, is told, gets the claim and the checkpoint', () => {
  const story = createClaimStory();
  story.take('ada', 'parser', 'src/parser.ts');
  story.ask('ada', 'claim.checkpoint', { id: 'parser', checkpoint: 'tokens done' });
  expect(codeOf(story.tryTake('bob', 'parser', 'src/parser.ts'))).toBe('claim.held');
  story.ask('bob', 'claim.wait', { id: 'parser' });
  story.release('ada', 'parser');
  expect(story.events.at(-1)).toMatchObject({ type: 'wait.reserved', agent: 'bob' });
  expect(story.take('bob', 'parser', 'src/parser.ts').claim.checkpoint).toBe('tokens done');
});
