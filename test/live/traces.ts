/** What of Synod is left in a home and a project: the configurations that still speak of it. */
import type { Scene } from './scene.ts';

const TRACE = 'synod install|[.]synod/bin|mcp__synod|synod_';
/** Gemini's own record of what a person trusts is not ours to touch. */
const THEIRS = /trusted_hooks\.json$/;
const SKIPPED = ['node_modules', 'tmp', 'projects', 'sessions', '.git', '.synod'];

/** The files that speak of us; a vendor's sample configuration may. */
export async function traces(at: Scene): Promise<string[]> {
  const kinds = ['json', 'jsonc', 'toml', 'md', 'js'].map((kind) => `--include=*.${kind}`);
  const skipped = SKIPPED.map((name) => `--exclude-dir=${name}`);
  const args = ['-rlE', TRACE, at.home, at.project, ...skipped, ...kinds];
  const { stdout } = await at.run('grep', args);
  return stdout.split('\n').filter((path) => path !== '' && !THEIRS.test(path));
}
