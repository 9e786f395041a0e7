/** What each vendor hands to our parts, and how it reads its own configuration. */

import { describe, expect, test } from 'vitest';
import { VENDORS } from '../../wire/tool-names.ts';
import { canaryName } from './canary.ts';
import { cleanEnvironment, expand, hookEnvironment, serverEnvironment } from './vendor-env.ts';
import { geminiLevel } from './vendor-trust.ts';

const session = { id: 's-1', root: '/srv/app' };
const clean = { HOME: '/home/ada', PATH: '/bin', MY_API_KEY: 'k', SYNOD_DIR: '/d', EDITOR: 'vi' };
const bare = { env: {}, envVars: [] };

test('[DO2] whatever names a session is taken out, and nothing else', () => {
  const session = {
    ...{ CLAUDE_CODE_SESSION_ID: 'x', CLAUDE_CODE_MESSAGING_SOCKET: '/s', CLAUDECODE: '1' },
    ...{ CODEX_THREAD_ID: 'x', GEMINI_SESSION_ID: 'x', SYNOD_AGENT: 'ada', SOX_AGENT_ID: 'ada' },
  };
  const kept = { HOME: '/h', CODEX_HOME: '/c', CLAUDE_CONFIG_DIR: '/k', SYNOD_DIR: '/d' };
  expect(cleanEnvironment({ ...session, ...kept, GONE: undefined })).toEqual(kept);
});

describe('[DO4] the environment of a server', () => {
  test('is whole with Claude Code and opencode', () => {
    for (const vendor of ['claude', 'opencode'] as const) {
      expect(serverEnvironment(vendor, clean, bare, session)).toMatchObject(clean);
    }
    expect(serverEnvironment('claude', clean, bare, session).CLAUDE_CODE_SESSION_ID).toBe('s-1');
  });

  test('is a short list and what is named with Codex', () => {
    expect(serverEnvironment('codex', clean, bare, session)).toEqual({
      HOME: '/home/ada',
      PATH: '/bin',
    });
    const named = { env: { A: '$HOME' }, envVars: ['SYNOD_DIR', 'SYNOD_AGENT'] };
    expect(serverEnvironment('codex', clean, named, session)).toEqual({
      ...{ HOME: '/home/ada', PATH: '/bin', SYNOD_DIR: '/d' },
      ...{ SYNOD_AGENT: canaryName('codex'), A: '$HOME' },
    });
  });

  test('is without secrets with Gemini', () => {
    const env = serverEnvironment('gemini', clean, bare, session);
    expect(env).toMatchObject({ EDITOR: 'vi', GEMINI_CLI: '1' });
    expect(env).not.toHaveProperty('MY_API_KEY');
  });

  test('bears the name of the canary, unless a token says who it is', () => {
    const token = { env: { SYNOD_TOKEN: 't' }, envVars: [] };
    for (const vendor of VENDORS) {
      expect(serverEnvironment(vendor, clean, token, session)).not.toHaveProperty('SYNOD_AGENT');
      expect(hookEnvironment(vendor, clean, session).SYNOD_AGENT).toBe(canaryName(vendor));
    }
    expect(serverEnvironment('gemini', clean, bare, session).SYNOD_AGENT).toBe(
      canaryName('gemini'),
    );
  });
});

test('[DO4] variables in a configuration are read as the vendor reads them', () => {
  const line = `exec "\${SYNOD_HOME:-$HOME/.synod}/bin/synod"`;
  expect(expand('claude', line, clean)).toBe('exec "$HOME/.synod/bin/synod"');
  expect(expand('claude', line, { SYNOD_HOME: '/s' })).toBe('exec "/s/bin/synod"');
  expect(expand('gemini', line, clean)).toBe(`exec "\${SYNOD_HOME:-/home/ada/.synod}/bin/synod"`);
  expect(expand('codex', line, clean)).toBe(line);
  expect(expand('opencode', '{env:HOME}/x{env:NONE}', clean)).toBe('/home/ada/x');
  expect(expand('claude', `\${NONE}`, clean)).toBe(`\${NONE}`);
});

test.each([
  [{}, 'unknown'],
  [{ '/srv/app': 'TRUST_FOLDER' }, 'trusted'],
  [{ '/srv': 'TRUST_FOLDER' }, 'trusted'],
  [{ '/srv/ap': 'TRUST_FOLDER' }, 'unknown'],
  [{ '/srv/other': 'TRUST_PARENT' }, 'trusted'],
  [{ '/srv': 'TRUST_FOLDER', '/srv/app': 'DO_NOT_TRUST' }, 'distrusted'],
  [{ '/srv': 'DO_NOT_TRUST', '/srv/app': 'TRUST_FOLDER' }, 'trusted'],
] as const)('[DO8] Gemini’s rules %j make the folder %s', (rules, level) => {
  expect(geminiLevel(rules, '/srv/app')).toBe(level);
});
