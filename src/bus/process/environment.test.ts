import { expect, test } from 'vitest';
import { workerEnvironment } from './environment.ts';

const from = {
  PATH: '/bin',
  HOME: '/tmp',
  LC_ALL: 'C',
  AWS_SECRET: 'a',
  NODE_OPTIONS: '--require=x',
  MODEL_KEY: 'k',
  MODEL_NAME: 'm',
  EMPTY: '',
  GONE: undefined,
};

test('[WO4] only what a program needs is taken over, and what the pool names', () => {
  expect(workerEnvironment(from, [], {})).toEqual({ PATH: '/bin', HOME: '/tmp', LC_ALL: 'C' });
  expect(workerEnvironment(from, ['MODEL_NAME', 'EMPTY', 'GONE'], {})).toEqual({
    ...{ PATH: '/bin', HOME: '/tmp', LC_ALL: 'C' },
    ...{ MODEL_NAME: 'm', EMPTY: '' },
  });
  const byPrefix = workerEnvironment(from, ['MODEL_*'], { PATH: '/opt', MODEL_NAME: 'own' });
  expect(byPrefix).toMatchObject({ PATH: '/opt', MODEL_KEY: 'k', MODEL_NAME: 'own' });
  expect(byPrefix).not.toHaveProperty('AWS_SECRET');
});

test('[WO4] a name is taken as it is spelt, but on Windows', () => {
  const mixed = { Path: 'p', SystemRoot: 'r', model_key: 'k' };
  expect(workerEnvironment(mixed, ['MODEL_*'], {}, false)).toEqual({});
  expect(workerEnvironment(mixed, ['MODEL_*'], {}, true)).toEqual(mixed);
});

test('[WO5] tokens and sessions of hubs and agents need their exact name; our token never goes', () => {
  const secret = {
    SYNOD_TOKEN: 't',
    Synod_Token: 't',
    SYNOD_URL: 'u',
    SOX_TOKEN: 's',
    CLAUDE_CODE_SESSION_ID: 'c',
    CODEX_HOME: 'h',
  };
  expect(workerEnvironment(secret, ['*'], {})).toEqual({});
  expect(workerEnvironment(secret, ['SYNOD_*', 'CODEX_*', 'C*', 'S*'], {})).toEqual({});
  const named = Object.keys(secret);
  expect(workerEnvironment(secret, named, {})).toEqual({
    ...{ SYNOD_URL: 'u', SOX_TOKEN: 's', CLAUDE_CODE_SESSION_ID: 'c', CODEX_HOME: 'h' },
  });
  expect(workerEnvironment(from, ['*'], {})).toHaveProperty('AWS_SECRET');
});
