/** Sessions as a person types them, and how what is refused is told. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
});
afterAll(() => home.close());

const said = (...args: string[]) => home.said(...args);
const refused = (...args: string[]) => home.refused(...args);
const ada = ['--as', 'ada'];

test('[CL38] a session is begun, appended to, shown, cut and closed', async () => {
  expect(await said('sessions', 'create', '--key', 'chat', '--ttl', '0', ...ada)).toBe('s1 begun');
  expect(await said('sessions', 'create', '--key', 'chat', ...ada)).toBe('s1 is there already');
  await said(
    'sessions',
    'append',
    's1',
    'where is\nmy \u001b[31mparcel?',
    '--kind',
    'user',
    ...ada,
  );
  expect(await said('sessions', 'append', 's1', 'on its way', '--expect', '1', ...ada)).toBe(
    's1 has 2 items',
  );
  const shown = await said('sessions', 'show', 's1', ...ada);
  expect(shown).not.toContain('\u001b');
  expect(shown.split('\n')).toEqual([
    's1: open, held by ada; 2 items',
    expect.stringMatching(/^0 \d\d:\d\d:\d\d ada user: where is$/),
    expect.stringMatching(/^ {2}│ my \S*\[31mparcel\?$/),
    expect.stringMatching(/^1 \d\d:\d\d:\d\d ada note: on its way$/),
  ]);
  expect(await said('sessions', 'fork', 's1', '--length', '1', ...ada)).toBe(
    's2 begins with 1 items of s1',
  );
  expect(await said('sessions', 'rewind', 's1', '1', ...ada)).toBe('s1 has 1 items');
  const { session } = await home.json(['sessions', 'show', 's1', ...ada]);
  const cut = String((session as { last_cut: number }).last_cut);
  expect(await said('sessions', 'show', 's1', '--cut', cut, ...ada)).toContain('on its way');
  await said('sessions', 'compact', 's1', 'a parcel', ...ada);
  expect(await said('sessions', 'close', 's2', '--reason', 'done', ...ada)).toBe('s2 is closed');
  expect(await said('sessions', '--all', ...ada)).toMatch(/s2 +closed +ada[\s\S]*s1 +open/);
});

test('[CL38] it is shared and handed on, and what is refused says what to type', async () => {
  await said('subscribe', 'news', '--as', 'bob');
  const hidden = await refused('sessions', 'show', 's1', '--as', 'bob');
  expect([hidden.code, hidden.text]).toEqual([
    21,
    expect.stringContaining('"synod sessions" shows yours'),
  ]);
  expect(await said('sessions', 'share', 's1', 'bob', ...ada)).toBe('bob may read s1');
  expect(await said('sessions', 'show', 's1', '--as', 'bob')).toContain('a parcel');
  const late = await refused('sessions', 'append', 's1', 'x', '--expect', '7', ...ada);
  expect(late.text).toMatch(/^session\.length: s1 has 1 items, not 7/);
  const handed = await said('sessions', 'handoff', 's1', 'bob', '--why', 'you know it', ...ada);
  expect(handed).toBe('bob holds s1');
  expect(await said('recv', '--as', 'bob')).toContain(
    'ada hands s1 on to you: you know it; to read it: synod sessions show s1',
  );
  expect(await said('sessions', '--person', '--as', 'pat')).toContain('s1');
  expect(await said('sessions', 'close', 's1', '--person', '--as', 'pat')).toBe('s1 is closed');
  const over = await refused('sessions', 'append', 's1', 'x', '--as', 'bob');
  expect(over.text).toMatch(
    /^session\.over: .*pat closed it: "synod sessions show" still reads it/,
  );
});
