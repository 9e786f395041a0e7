/**
 * Where the vendors' command lines are: the folder named by SYNOD_LIVE_CLIS (the one that holds
 * `node_modules/.bin`), or a cache that `install-clis.ts` fills. Nothing is looked for on PATH, so
 * that a test never drives the copy, or the account, of the person who runs it.
 * SYNOD_LIVE_VENDORS=claude,codex chooses among the vendors; all of them unless said.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGES: Readonly<Record<CliName, string>> = {
  claude: '@anthropic-ai/claude-code',
  codex: '@openai/codex',
  gemini: '@google/gemini-cli',
  opencode: 'opencode-ai',
};

export type CliName = 'claude' | 'codex' | 'gemini' | 'opencode';

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/live-clis', import.meta.url));

export function clisDirectory(): string {
  return process.env.SYNOD_LIVE_CLIS || CACHE;
}

export function cliPath(name: CliName): string {
  return join(cliFolder(), name);
}

/** The folder of the commands themselves, for a PATH. */
export function cliFolder(): string {
  return join(clisDirectory(), 'node_modules', '.bin');
}

/** Those that were asked for; a name nobody has is refused, lest a run of nothing pass. */
export function chosenClis(): readonly CliName[] {
  const all = Object.keys(PACKAGES) as CliName[];
  const asked = (process.env.SYNOD_LIVE_VENDORS ?? '').split(',').filter((name) => name !== '');
  const strange = asked.filter((name) => !all.some((known) => known === name));
  if (strange.length > 0) {
    throw new Error(`SYNOD_LIVE_VENDORS names ${strange.join(', ')}; known are ${all.join(', ')}`);
  }
  return asked.length === 0 ? all : all.filter((name) => asked.includes(name));
}

export function missingClis(): readonly CliName[] {
  return chosenClis().filter((name) => !existsSync(cliPath(name)));
}
