import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const turnsNow = () => createTurns((run) => queueMicrotask(run));

/** What has happened so far, when nothing more can. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('[SV9] of one agent one page is made at a time, in the order in which they were asked for', async () => {
  const turns = turnsNow();
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const ask = (agent: string, page: string): void =>
    void turns.page(agent).then((end) => {
      began.push(page);
      if (end !== null) ends.set(page, end);
    });
  for (const page of ['first', 'second', 'third']) ask('ada', page);
  ask('bob', 'of another');
  await settled();
  expect(began).toEqual(['first', 'of another']);
  ends.get('first')?.();
  // Ended twice is ended once.
  ends.get('first')?.();
  await settled();
  expect(began).toEqual(['first', 'of another', 'second']);
  ends.get('second')?.();
  await settled();
  expect(began.at(-1)).toBe('third');
});

test('[SV9] while an agent has not taken what it was given, it is given no other page', async () => {
  const turns = turnsNow();
  const end = await turns.page('ada');
  const release = turns.hold('ada');
  const releaseToo = turns.hold('ada');
  let isBegun = false;
  void turns.page('ada').then(() => {
    isBegun = true;
  });
  end?.();
  release();
  await settled();
  expect(isBegun).toBe(false);
  (await turns.page('bob'))?.();
  releaseToo();
  await settled();
  expect(isBegun).toBe(true);
});

test('[SV9] who leaves while it waits for a page leaves the line as well', async () => {
  const turns = turnsNow();
  const end = await turns.page('ada');
  const one = new AbortController();
  const other = new AbortController();
  const gone = turns.page('ada', one.signal);
  const next = turns.page('ada', other.signal);
  one.abort();
  expect(await gone).toBeNull();
  end?.();
  const endNext = await next;
  expect(endNext).not.toBeNull();
  // Its page is begun: that it has left ends nothing that was not ended.
  other.abort();
  endNext?.();
  expect(await turns.page('ada', one.signal)).toBeNull();
  expect(await turns.page('ada')).not.toBeNull();
});
