/** DevOps: a commit, a tag and an archive, by Git itself; what was tagged before is not tagged again. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Craft } from './craft.ts';

const run = promisify(execFile);
const TAG = 'v1.0.0';
const WHO = ['-c', 'user.name=devops', '-c', 'user.email=devops@studio.invalid'];

export const release: Craft = async ({ dir }) => {
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', [...WHO, ...args], { cwd: dir })).stdout.trim();
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', 'src', 'bin', 'test', 'docs', 'package.json');
  if ((await git('tag', '--list', TAG)) === '') {
    await git('commit', '--quiet', '--message', 'Release 1.0.0');
    await git('tag', TAG);
  }
  await mkdir(join(dir, 'dist'), { recursive: true });
  const archive = join('dist', `convert-${TAG}.tar`);
  await git('archive', '--output', archive, TAG);
  const commit = await git('rev-parse', '--short', TAG);
  return { text: `${TAG} is ${commit}`, files: [archive], tag: TAG, commit };
};
