/**
 * Branches of four people land on one `main`, in real repositories under a folder that is removed afterwards: run it
 * in a clone with `node_modules/.bin/node examples/landing/main.ts`. Two land, one stands against what landed before,
 * one fails its check. It prints what became of each, and ends with 1 if `main` is not what it must be.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
// In a project of your own: from 'synod/flow'.
import { landing, openFlow } from '../../src/flow/index.ts';

const dir = await mkdtemp(join(tmpdir(), 'landing-'));
const clone = join(dir, 'clone');

function git(...args: string[]): string {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  const cwd = existsSync(clone) ? clone : dir;
  return execFileSync('git', [...who, ...args], { cwd, encoding: 'utf8', stdio: 'pipe' }).trim();
}

async function commit(branch: string, file: string, text: string): Promise<void> {
  git('checkout', '--quiet', '-B', branch, ...(branch === 'main' ? [] : ['main']));
  await writeFile(join(clone, file), text);
  git('add', file);
  git('commit', '--quiet', '--message', `${branch}: ${file}`);
  git('push', '--quiet', 'origin', branch);
}

try {
  git('init', '--quiet', '--bare', '--initial-branch', 'main', join(dir, 'origin.git'));
  git('clone', '--quiet', join(dir, 'origin.git'), clone);
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.com');
  await commit('main', 'song.txt', 'a song\n');
  await commit('verse', 'song.txt', 'a song with a verse\n');
  await commit('chorus', 'song.txt', 'a song with a chorus\n');
  await commit('cover', 'cover.txt', 'a picture\n');
  await commit('noise', 'noise.txt', 'brrr\n');
  git('checkout', '--quiet', 'main');

  const land = landing({
    repository: clone,
    check({ worktree }) {
      if (existsSync(join(worktree, 'noise.txt'))) throw new Error('noise is no song');
    },
  });
  await using flow = await openFlow({
    store: `sqlite://${join(dir, 'flow.sqlite')}`,
    workflows: [land],
  });
  for (const branch of ['verse', 'chorus', 'cover', 'noise']) {
    const run = await flow.start(land, { branch, owner: 'ada' }, { id: `land-${branch}` });
    const outcome = await run.result({ timeoutMs: 60_000 });
    process.stdout.write(
      `${branch}: ${outcome.landed ? 'landed' : `back to ada, ${outcome.message}`}\n`,
    );
  }
  git('fetch', '--quiet');
  const onMain = git('log', '--format=%s', 'origin/main').split('\n').reverse().join(', ');
  process.stdout.write(`main: ${onMain}\n`);
  if (onMain !== 'main: song.txt, verse: song.txt, cover: cover.txt') process.exitCode = 1;
} finally {
  await rm(dir, { recursive: true, force: true });
}
