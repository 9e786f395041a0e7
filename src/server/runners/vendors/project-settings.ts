/**
 * A project's own settings of Claude Code, which a turn reads only when it was told to. They are files that
 * an agent can write, so they may not say which account or endpoint is used [RV6]: a key or a sign-in would
 * go where they point.
 */
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isFields, parseJson } from '../../../wire/fields.ts';
import { isOfSignIn } from './sign-in.ts';

/** Why they cannot be read in a turn, as a sentence; null when they can. */
export async function settingsTrouble(cwd: string): Promise<string | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = join(folder, '.claude', 'settings.json');
    const named = namedIn(parseJson(await readFile(path, 'utf8').catch(() => '{}')));
    if (named !== null) {
      return `${path} sets ${named}, which decides what a turn bills; take it out, or set the option settings to none`;
    }
    if (dirname(folder) === folder) return null;
  }
}

function namedIn(settings: unknown): string | null {
  if (!isFields(settings)) return null;
  const env = isFields(settings.env) ? Object.keys(settings.env) : [];
  const helper = ['apiKeyHelper', 'awsAuthRefresh', 'awsCredentialExport', 'forceLoginMethod'];
  return (
    env.find((name) => isOfSignIn(name) || name === 'CLAUDE_CODE_OAUTH_TOKEN') ??
    helper.find((name) => name in settings) ??
    null
  );
}
