/**
 * Whether Codex runs our hooks: it skips, without a word, every hook whose text its user has not
 * reviewed, and everything in a project its user has not told it to trust. Codex itself is asked, over
 * its app-server; the hash of a review is never written by us [DO8].
 */
import { dirname, join } from 'node:path';
import { isFields } from '../../wire/fields.ts';
import { VENDOR_PARTS } from '../install/vendors/all.ts';
import type { InstallSite } from '../install/vendors/vendor.ts';
import { type Found, fail, ok, skip, warn } from './hop.ts';
import { openLineRpc } from './line-rpc.ts';
import { readHook, valueAt } from './registered.ts';
import type { Environment } from './vendor-env.ts';

const ANSWER_MS = 15_000;

export async function readCodexTrust(asked: {
  readonly site: InstallSite;
  readonly root: string;
  readonly clean: Environment;
  readonly isQuick: boolean;
}): Promise<Found[]> {
  const { site, root, clean, isQuick } = asked;
  const home = site.env.CODEX_HOME || join(site.home, '.codex');
  const found: Found[] = [];
  if (site.scope === 'project') {
    const config = join(home, 'config.toml');
    const level = valueAt(config, 'toml', ['projects', root, 'trust_level']);
    if (level !== 'trusted') {
      const what = `Codex reads nothing of ${root}/.codex: the project is not trusted in ${config}`;
      return [
        fail('trust', what, 'start codex there once and answer that you trust it, if you do'),
      ];
    }
    found.push(ok('trust', `Codex trusts ${root}`));
  }
  if (isQuick)
    return [...found, skip('trust', 'whether the hooks were reviewed: not asked (--quick)')];
  return [...found, await reviewed(site, root, clean)];
}

async function reviewed(site: InstallSite, root: string, clean: Environment): Promise<Found> {
  const hook = readHook('codex', site, 'PreToolUse');
  if (hook === null) return skip('trust', 'no hook of ours is registered, so none was reviewed');
  const { command } = VENDOR_PARTS.codex;
  const rpc = openLineRpc({ command, args: ['app-server'], env: clean, cwd: root });
  try {
    const met = await rpc.ask(
      'initialize',
      { clientInfo: { name: 'synod', version: '1' } },
      ANSWER_MS,
    );
    if ('error' in met) return unasked(met.error);
    rpc.tell('initialized');
    const listed = await rpc.ask('hooks/list', { cwds: [root] }, ANSWER_MS);
    if ('error' in listed) return unasked(listed.error);
    return judge(listed.result.data, hook.path, hook.command);
  } finally {
    await rpc.close();
  }
}

function unasked(why: string): Found {
  return warn(
    'trust',
    `Codex did not say whether the hooks were reviewed: ${why}`,
    'start codex and look at /hooks',
  );
}

function judge(folders: unknown, path: string, command: string): Found {
  const hooks = (Array.isArray(folders) ? folders : [])
    .flatMap((folder) => (isFields(folder) && Array.isArray(folder.hooks) ? folder.hooks : []))
    .filter(isFields)
    .filter((hook) => hook.sourcePath === path || hook.command === command);
  const approve =
    'start codex in a terminal: it asks for a review; look, and trust them (or /hooks)';
  if (hooks.length === 0) {
    return fail(
      'trust',
      `Codex does not see the hooks in ${path}`,
      `synod verify codex; then ${approve}`,
    );
  }
  const count = (state: string): number =>
    hooks.filter(({ trustStatus }) => trustStatus === state).length;
  const off = hooks.filter(({ enabled }) => enabled === false).length;
  if (count('modified') > 0) {
    const message = `${count('modified')} of ${hooks.length} hooks changed since they were reviewed; Codex skips them`;
    return fail('trust', message, approve);
  }
  if (count('untrusted') > 0) {
    const message = `${count('untrusted')} of ${hooks.length} hooks were never reviewed; Codex skips them, silently`;
    return fail('trust', message, approve);
  }
  if (off > 0) {
    const message = `${off} of ${hooks.length} hooks are switched off in Codex`;
    return fail('trust', message, 'start codex and switch them on with /hooks');
  }
  return ok('trust', `Codex runs all ${hooks.length} hooks: they were reviewed (${dirname(path)})`);
}
