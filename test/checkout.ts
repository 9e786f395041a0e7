/**
 * Another commit of this repository, checked out beside it, with its packages, and built: to be measured or run beside
 * this one. It is taken away again.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const HERE = join(import.meta.dirname, '..');

export interface Checkout extends AsyncDisposable {
  readonly root: string;
}

/** `ref` is anything that git calls a commit. */
export async function openCheckout(ref: string): Promise<Checkout> {
  const dir = await mkdtemp(join(tmpdir(), 'synod-checkout-'));
  const root = join(dir, 'checkout');
  async function remove(): Promise<void> {
    run('git', ['worktree', 'remove', '--force', root], HERE);
    await rm(dir, { recursive: true, force: true });
  }
  run('git', ['worktree', 'add', '--quiet', '--detach', root, ref], HERE);
  try {
    install(root);
    build(root);
  } catch (cause) {
    await remove();
    throw cause;
  }
  return { root, [Symbol.asyncDispose]: remove };
}

export function build(root: string): void {
  run('npm', ['run', '-s', 'build'], root);
}

function run(program: string, args: readonly string[], cwd: string): void {
  execFileSync(program, [...args], { cwd, stdio: ['ignore', 2, 'inherit'] });
}

/** The same packages are the same directories; what is kept of an earlier build is each checkout's own. */
function install(there: string): void {
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(HERE) !== lock(there)) {
    run('npm', ['install', '--no-audit', '--no-fund'], there);
    return;
  }
  const packages = join(HERE, 'node_modules');
  mkdirSync(join(there, 'node_modules'));
  for (const name of readdirSync(packages)) {
    if (name === '.cache') continue;
    symlinkSync(join(packages, name), join(there, 'node_modules', name));
  }
}
