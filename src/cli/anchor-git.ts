/**
 * Anchors in git: a ref of its own on a remote, each anchor a commit on the last, pushed without force, so
 * that the remote keeps them all and refuses to forget one. Nothing of the repository one stands in is
 * touched: the commits are made in a bare one that is thrown away.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

export const ANCHORS_REF = 'refs/synod/anchors';
const FILE = 'anchors.ndjson';
const TRIES = 3;
const TIMEOUT_MS = 60_000;

interface Ran {
  readonly ok: boolean;
  readonly out: string;
  readonly why: string;
}

/** Appends the line to the anchors on the remote; answers why it did not, or null. */
export function pushAnchor(remote: string, line: string, title: string): string | null {
  const url = urlOf(remote);
  const dir = mkdtempSync(join(tmpdir(), 'synod-anchor-'));
  const git = (args: readonly string[], input?: string): Ran => run(['-C', dir, ...args], input);
  try {
    let failed = git(['init', '--quiet', '--bare']);
    for (let tries = 0; failed.ok && tries < TRIES; tries++) {
      const known = git(['ls-remote', '--', url, ANCHORS_REF]);
      if (!known.ok) return known.why;
      const fetched = known.out === '' || git(['fetch', '--quiet', '--', url, ANCHORS_REF]).ok;
      if (!fetched) continue;
      const parent = known.out === '' ? [] : ['-p', 'FETCH_HEAD'];
      const before = known.out === '' ? '' : git(['show', `FETCH_HEAD:${FILE}`]).out;
      const blob = git(['hash-object', '-w', '--stdin'], `${before}${line}\n`);
      const tree = git(['mktree'], `100644 blob ${blob.out.trim()}\t${FILE}\n`);
      const commit = git(['commit-tree', tree.out.trim(), ...parent, '-m', title]);
      if (!commit.ok) return commit.why;
      // Without force: should somebody have been first, theirs is the parent of the next try.
      failed = git(['push', '--quiet', '--', url, `${commit.out.trim()}:${ANCHORS_REF}`]);
      if (failed.ok) return null;
      failed = { ...failed, ok: tries + 1 < TRIES };
    }
    return failed.why;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A remote of the repository one stands in, or an address; a path is one from here. */
function urlOf(remote: string): string {
  const named = run(['remote', 'get-url', '--', remote]);
  if (named.ok) return pathOf(named.out.trim());
  return pathOf(remote);
}

function pathOf(url: string): string {
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) || /^[^/]+:/.test(url);
  return isAddress || isAbsolute(url) ? url : resolve(url);
}

function run(args: readonly string[], input = ''): Ran {
  const { GIT_DIR: _, GIT_WORK_TREE: __, GIT_INDEX_FILE: ___, ...env } = process.env;
  const who = { NAME: 'synod', EMAIL: 'synod@localhost' };
  const done = spawnSync('git', args, {
    ...{ input, encoding: 'utf8', timeout: TIMEOUT_MS, stdio: 'pipe' },
    env: {
      ...env,
      ...{ GIT_AUTHOR_NAME: who.NAME, GIT_AUTHOR_EMAIL: who.EMAIL },
      ...{ GIT_COMMITTER_NAME: who.NAME, GIT_COMMITTER_EMAIL: who.EMAIL },
      ...{ GIT_TERMINAL_PROMPT: '0' },
    },
  });
  const why = done.error?.message ?? (reasonOf(done.stderr) || 'git failed');
  return { ok: done.status === 0, out: done.stdout ?? '', why };
}

/** What git says first is why; its last line is advice, and often half of a sentence. */
function reasonOf(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const why = lines.filter((line) => /^(fatal|error|remote|ssh): |^ ! /.test(line));
  return (why.length === 0 ? lines : why).join('; ');
}
