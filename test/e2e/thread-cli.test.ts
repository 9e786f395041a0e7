/** Threads as a person types them: reading, listing, marking, describing, and how what is refused is told. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
/** `ada`'s post, in words as they are typed. */
let post: string;
beforeAll(async () => {
  home = openHome();
  await home.start(['serve', '--json', '--port', '0']).printed(/"ready":true/);
  const fields = ['--post', '--title', 'Shape', '--type', 'question', '--tier', '1'];
  const sent = await home.json(['send', 'design', 'old or new?', ...fields, '--as', 'ada']);
  post = sent.message_id as string;
});
afterAll(() => home.close());

const said = (...args: string[]) => home.said(...args);
const refused = (...args: string[]) => home.refused(...args);

test('[CL36] [TM2] a thread is read whole, with the marks by author, time and note', async () => {
  await said('send', 'design', 'the \u001b[31mold one', '--reply-to', post, '--as', 'bob');
  expect(await said('thread', 'pin', post, '--as', 'ada')).toBe(`pinned; ${post} is open, pinned`);
  expect(await said('thread', 'pin', post, '--as', 'ada')).toBe(
    `nothing changed; ${post} is open, pinned`,
  );
  const note = 'decided\nby us';
  await said('thread', 'close', post, '--note', note, '--person', '--as', 'pat');
  const lines = (await said('thread', post)).split('\n');
  expect(lines).toEqual([
    `${post} on design: closed, pinned; 1 reply`,
    expect.stringMatching(/^\S+ design #1 ada: post \(question, tier 1\): Shape \[m\d+\]$/),
    '  │ old or new?',
    expect.stringMatching(/^\S+ design #2 bob: the \S*\[31mold one \[m\d+, re m\d+\]$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d ada \(\S+\) pinned it$/),
    expect.stringMatching(/^\d\d:\d\d:\d\d pat \(\S+\) closed it: decided$/),
    '  │ by us',
  ]);
  expect(lines.join('')).not.toContain('\u001b');
  const document = await home.json(['thread', post]);
  expect(document).toMatchObject({ thread: { state: 'closed', version: 2 }, next: null });
});

test('[CL36] [TM7] what is refused says what to type', async () => {
  const reply = ['send', 'design', 'and?', '--reply-to', post];
  const closed = await refused(...reply, '--as', 'bob');
  expect(closed.code).toBe(12);
  expect(closed.text).toMatch(/^thread\.closed: .*decided[\s\S]*--reopen/);
  const [mark, bare, elsewhere, alone, half] = await Promise.all([
    refused('thread', 'reopen', post, '--as', 'bob'),
    refused('thread', 'close', post, '--as', 'ada'),
    refused('send', 'team', 'x', '--reply-to', post),
    refused('send', 'design', 'x', '--reopen'),
    refused('send', 'design', 'x', '--title', 'T'),
  ]);
  expect([mark.code, mark.text]).toEqual([11, expect.stringContaining('--person')]);
  expect([bare.code, bare.text]).toEqual([20, expect.stringContaining('--note TEXT')]);
  expect(elsewhere.text).toContain('--quote');
  expect([alone.code, alone.text]).toEqual([2, expect.stringContaining('--reply-to ID')]);
  expect([half.code, half.text]).toEqual([2, expect.stringContaining('--post')]);
  await said('send', 'team', 'see there', '--reply-to', post, '--quote');
  await said(...reply, '--reopen', '--as', 'ada');
  expect(await said('thread', post)).toMatch(
    /: open, pinned; 2 replies\n[\s\S]*ada \(\S+\) reopened it$/,
  );
});

test('[CL36] [TM10] threads are listed by channel, state, author and type, a page at a time', async () => {
  const [open, none, typed, page] = await Promise.all([
    said('thread', 'list', 'design', '--state', 'pinned', '--author', 'ada'),
    home.run(['thread', 'list', '--state', 'closed']),
    home.json(['thread', 'list', '--type', 'question']),
    home.run(['thread', post, '--limit', '1']),
  ]);
  expect(open).toMatch(
    /^\S+ design ada: Shape \(question, tier 1, open, pinned, \d replies\) \[m\d+\]$/,
  );
  expect([none.code, none.stdout]).toEqual([0, '']);
  expect(none.stderr).toContain('no threads');
  expect(typed.threads).toMatchObject([{ message_id: post, type: 'question' }]);
  const [, after = ''] = /there is more: (--after m\d+)/.exec(page.stderr) ?? [];
  const rest = await said('thread', post, ...after.split(' '));
  expect(rest.split('\n')).toEqual([expect.stringMatching(/design #\d ada: and\?/)]);
});

test('[CL36] [TM9] a channel is described, what is said of it is shown, and posts are held to it', async () => {
  const schema = join(home.dir, 'schema.json');
  writeFileSync(schema, '{"required":["title"]}');
  const values = ['--title', 'Decisions', '--types', 'decision,question', '--standing'];
  const describe = ['channels', 'describe', 'decisions'];
  await said(...describe, ...values, '--post-schema', schema, '--as', 'ada');
  await said(
    ...describe,
    '--title',
    '',
    '--description',
    'what\nfor',
    '--tiers',
    '0,1',
    '--as',
    'ada',
  );
  expect((await said(...describe)).split('\n').map((line) => line.replace(/ +/g, ' '))).toEqual([
    ...['channel decisions', 'title -', 'standing yes', 'types decision, question', 'tiers 0, 1'],
    ...['posts {"required":["title"]}', 'about what', ' │ for'],
  ]);
  const [bad, unknown, theirs] = await Promise.all([
    refused('send', 'decisions', 'x', '--post', '--type', 'joke', '--tier', '2'),
    refused('channels', 'describe', 'nowhere'),
    refused(...describe, '--title', 'Mine', '--as', 'bob'),
  ]);
  expect(bad.text).toMatch(/^post\.invalid[\s\S]*synod channels describe CHANNEL/);
  expect(bad.text).toContain('decision, question');
  expect([unknown.code, unknown.text]).toEqual([2, expect.stringContaining('synod channels')]);
  expect(theirs.text).toMatch(/^access\.denied: decisions is described by ada/);
  await said('send', 'decisions', '--post', '--title', 'Old', '--type', 'decision', '--as', 'ada');
  const [digest, full, listed] = await Promise.all([
    said('channels', 'digest', 'design', 'decisions'),
    said('channels', 'digest', 'decisions', '--view', 'full', '--since', '1h'),
    said('channels', '--details'),
  ]);
  expect(digest).toMatch(/ada: Shape \(question/);
  expect(digest).toMatch(/ada: Old \(decision\)/);
  expect(full).toMatch(/^\S+ decisions #1 ada: post \(decision\): Old \[m\d+\]$/);
  expect(listed).toMatch(/^decisions +0 subscribers +\d\d:\d\d:\d\d +- +what$/m);
});
