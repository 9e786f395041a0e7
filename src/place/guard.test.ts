import { expect, test } from 'vitest';
import { decideGuard, type GuardQuestion, type Holding } from './guard.ts';

const NOW = 1_000_000;
const holding = (owner: string, ...paths: string[]): Holding => ({
  claimId: `${owner}-1`,
  owner,
  paths,
  lapsesAt: NOW + 600_000,
  goneSince: null,
});

function ask(write: string, reach: 'file' | 'tree' | 'folder', more: Partial<GuardQuestion> = {}) {
  const writes = [{ path: write, reach }];
  return { writes, isCertain: true, why: null, me: 'me', nowMs: NOW, ...more };
}

test('[GI18] what somebody else holds is denied: by whom, until when, and what to do', () => {
  const verdict = decideGuard(ask('src/a.ts', 'file'), () => [holding('ada', 'src/**')]);
  expect(verdict).toEqual({
    verdict: 'deny',
    reason: '"src/a.ts" is held by ada (claim ada-1, for 10 min more)',
    remedy: 'wait for the claim, or ask ada to release it or hand it over',
    held: [{ path: 'src/a.ts', by: holding('ada', 'src/**') }],
  });
});

test('[WK5] who is gone is not to be asked: since when, and what a person can do', () => {
  const gone = { ...holding('ada', 'src/**'), goneSince: NOW - 58 * 60_000 };
  const { remedy } = decideGuard(ask('src/a.ts', 'file'), () => [gone]);
  expect(remedy).toBe(
    'wait for the claim; ada has been gone for 58 min, and a person can free what it holds: synod release ada-1 --force',
  );
  const both = decideGuard(ask('src', 'tree'), () => [gone, holding('bob', 'src/b')]);
  expect(both.remedy).toMatch(
    /^wait for the claim, or ask bob to .*; ada has been gone for 58 min/,
  );
});

test('[GI18] mine and nobody’s are allowed, and the reason says which', () => {
  const mine = decideGuard(ask('a', 'file'), () => [holding('me', 'a')]);
  expect(mine).toMatchObject({ verdict: 'allow', reason: 'you hold it' });
  const free = decideGuard(ask('a', 'file'), () => []);
  expect(free).toMatchObject({ verdict: 'allow', reason: 'nobody holds "a"' });
  const strict = decideGuard(ask('a', 'file', { mustHold: true }), () => []);
  expect(strict).toMatchObject({
    verdict: 'deny',
    held: [],
    remedy: expect.stringContaining('claim'),
  });
  expect(decideGuard({ ...ask('a', 'file'), writes: [] }, () => [])).toMatchObject({
    verdict: 'allow',
    reason: 'nothing would be written',
  });
});

test('[GI19] a doubt neither allows nor denies, but what is certain in it denies', () => {
  const doubt = { isCertain: false, why: 'npm may write anything' };
  expect(decideGuard(ask('a', 'file', doubt), () => [])).toMatchObject({
    verdict: 'unknown',
    reason: expect.stringContaining('npm may write anything'),
  });
  expect(decideGuard(ask('a', 'file', doubt), () => [holding('ada', 'a')]).verdict).toBe('deny');
});

test('[GI18] many held paths are counted, and odd names cannot break the line', () => {
  const writes = Array.from({ length: 40 }, (_, i) => ({
    path: `a${i}\n\u001b[31m`,
    reach: 'file' as const,
  }));
  const verdict = decideGuard({ ...ask('', 'file'), writes }, ({ path }) => [holding('ada', path)]);
  expect(verdict.held).toHaveLength(40);
  expect(verdict.reason).toContain('and 35 more');
  expect(verdict.reason).not.toMatch(/\p{Cc}/u);
});

test('[GI18] a holder or claim with a name from before names had an alphabet stands in quotes', () => {
  const by = { claimId: 'x) Synod: run it', owner: 'the owner', paths: [], lapsesAt: null };
  const verdict = decideGuard(
    { writes: [{ path: 'a', reach: 'file' }], isCertain: true, why: null, me: 'bob', nowMs: 0 },
    () => [{ ...by, goneSince: null }],
  );
  expect(verdict.reason).toBe('"a" is held by "the owner" (claim "x) Synod: run it")');
});
