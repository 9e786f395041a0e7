/** The workflows in the box, on real repositories and with agents that answer. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fanOutReview, type Landed, landing, team } from '../../src/flow/index.ts';
import { createFolder, type Kit, openKit } from './kit.ts';

interface Repository {
  readonly clone: string;
  git(...args: string[]): string;
  /** A branch off main with one file changed, pushed. */
  branch(name: string, file: string, text: string): void;
}

async function createRepository(): Promise<Repository> {
  const dir = await createFolder();
  const [origin, clone] = [join(dir, 'origin.git'), join(dir, 'clone')];
  const run = (cwd: string, ...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      ...{ cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] },
    }).trim();
  mkdirSync(origin);
  run(dir, 'init', '-q', '--bare', '-b', 'main', origin);
  run(dir, 'clone', '-q', origin, clone);
  const git = (...args: string[]): string => run(clone, ...args);
  git('config', 'user.name', 't');
  git('config', 'user.email', 't@t');
  git('checkout', '-q', '-b', 'main');
  writeFileSync(join(clone, 'a.txt'), 'one\n');
  git('add', '.');
  git('commit', '-qm', 'begin');
  git('push', '-q', 'origin', 'main');
  return {
    ...{ clone, git },
    branch(name, file, text) {
      git('checkout', '-q', '-B', name, 'main');
      writeFileSync(join(clone, file), text);
      git('add', '.');
      git('commit', '-qm', name);
      git('push', '-q', '-f', 'origin', name);
      git('checkout', '-q', 'main');
    },
  };
}

/** An agent that answers every message it gets by a function. */
function answer(
  kit: Kit,
  agent: string,
  say: (body: Record<string, unknown>) => object,
): () => void {
  const stop = new AbortController();
  void (async () => {
    while (!stop.signal.aborted) {
      const { messages } = await kit.hub.call<{
        messages: {
          message_id: string;
          channel: string;
          sender: string;
          body: Record<string, unknown>;
        }[];
      }>('channels.recv', { max_messages: 10 }, { agent });
      for (const { message_id, channel, body, sender } of messages) {
        // What it said itself comes by, too.
        if (sender === agent) continue;
        await kit.hub.call(
          'channels.send',
          { channel, body: say(body), reply_to: message_id },
          { agent },
        );
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  })().catch(() => {});
  return () => stop.abort();
}

test('[FW15] branches land one at a time; a conflict and a failed check go back to the owner', async () => {
  const kit = await openKit();
  const repository = await createRepository();
  repository.branch('good', 'b.txt', 'good\n');
  repository.branch('first', 'a.txt', 'first\n');
  repository.branch('second', 'a.txt', 'second\n');
  repository.branch('broken', 'broken.txt', 'x\n');
  let running = 0;
  let most = 0;
  const land = landing({
    repository: repository.clone,
    async check({ worktree }) {
      most = Math.max(most, ++running);
      const files = execFileSync('ls', [worktree], { encoding: 'utf8' });
      running--;
      if (files.includes('broken')) throw new Error('broken.txt must not be');
    },
  });
  const flow = await kit.openWithQueues([land]);
  const start = (branch: string) => flow.start(land, { branch, owner: 'ada' });
  const results: Record<string, Landed> = {};
  const runs = await Promise.all(
    ['good', 'first', 'second', 'broken'].map(
      async (branch) => [branch, await start(branch)] as const,
    ),
  );
  for (const [branch, run] of runs) results[branch] = await run.result();
  const { good, first, second, broken } = results;
  expect(good).toMatchObject({ landed: true });
  // Whichever came first landed; the other stands against it.
  const both = [first, second];
  expect(both.filter((one) => one?.landed)).toHaveLength(1);
  expect(both.find((one) => !one?.landed)).toMatchObject({ why: 'conflict', files: ['a.txt'] });
  expect(broken).toMatchObject({ landed: false, why: 'check', message: 'broken.txt must not be' });
  expect(most).toBe(1);
  repository.git('fetch', '-q');
  const log = repository.git('log', '--format=%s', 'origin/main').split('\n');
  expect(log).toHaveLength(3);
  expect(log).toEqual(expect.arrayContaining(['begin', 'good']));
  expect(repository.git('worktree', 'list').split('\n')).toHaveLength(1);
  const told = await kit.hub.call<{ messages: { body: { text: string } }[] }>('channels.replay', {
    channel: 'dm/ada~flow',
  });
  expect(told.messages.map(({ body }) => body.text).sort()).toEqual([
    'broken did not land: broken.txt must not be',
    expect.stringMatching(/^(first|second) did not land: it stands against main in a.txt$/),
  ]);
});

test('[FW15] a review asks everybody at once, counts who answered in time, and decides', async () => {
  const kit = await openKit();
  const stops = [
    answer(kit, 'ada', () => ({ text: 'approve, it reads well' })),
    answer(kit, 'bob', ({ subject }) => ({ approves: subject !== 'bad', text: 'no' })),
  ];
  const review = fanOutReview({ reviewers: ['ada', 'bob', 'cy'], timeoutMs: 60_000 });
  const flow = kit.open([review]);
  const outcome = async (subject: string) => {
    const run = await flow.start(review, { subject });
    await kit.time.pass(61_000);
    return run.result();
  };
  const good = await outcome('good');
  expect(good.approved).toBe(true);
  expect(good.votes.map(({ approves }) => approves)).toEqual([true, true, null]);
  expect((await outcome('bad')).approved).toBe(false);
  for (const stop of stops) stop();
});

test('[FW15] a team plans, builds, has it reviewed, fixes it and lands it', async () => {
  const kit = await openKit();
  const repository = await createRepository();
  const heard: string[] = [];
  const stops = [
    answer(kit, 'ada', (body) => {
      heard.push(`plan ${body.task}`);
      return { text: 'b.txt' };
    }),
    answer(kit, 'bob', (body) => {
      const isFix = 'against' in body;
      heard.push(isFix ? `fix ${body.against}` : 'build');
      repository.branch('topic', 'b.txt', isFix ? 'fine\n' : 'typo\n');
      return { text: 'done' };
    }),
    answer(kit, 'cy', (body) => ({ approves: body.round !== 1, text: 'there is a typo' })),
  ];
  const land = landing({ repository: repository.clone, check: () => {} });
  const review = fanOutReview({ reviewers: ['cy'] });
  const make = team({ planner: 'ada', builder: 'bob', review, land });
  const flow = await kit.openWithQueues([make, review, land]);
  const run = await flow.start(make, { task: 'say it', branch: 'topic' });
  expect(await run.result()).toMatchObject({ landed: true, rounds: 2 });
  expect(heard).toEqual(['plan say it', 'build', 'fix cy: there is a typo']);
  repository.git('fetch', '-q');
  expect(repository.git('show', 'origin/main:b.txt')).toBe('fine');
  for (const stop of stops) stop();
});
