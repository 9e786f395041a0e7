import { expect, test } from 'vitest';
import { envelopeError } from '../client/error.ts';
import { claimRow, elsewhereText, explainRefusal } from './claim-text.ts';
import { type CliError, failureText } from './failure.ts';
import { columns } from './terminal.ts';

const refusal = (envelope: object) => envelopeError(envelope, null, '');

const overlap = (mine: string, theirs: string) =>
  refusal({
    error_code: 'validation_error',
    message: 'not free',
    detail: {
      reason: 'claim.overlap',
      id: 'T1',
      holder: 'ada',
      lapses_at: Date.now() / 1000 + 80,
      overlaps: [{ mine, theirs, witness: mine, id: 'T1', holder: 'ada' }],
    },
  });

test('[CL10] a refusal says who, what, until when and how to wait, and keeps its exit code', () => {
  const failure = explainRefusal(overlap('src/a.ts', 'src/*'), 'synod claim T2 --wait 10m');
  expect((failure as CliError).exit).toBe(12);
  expect(failureText(failure as CliError, false).split('\n')).toEqual([
    'claim.overlap: not free',
    '  holder   ada (T1)',
    '  overlap  src/a.ts meets "src/*"',
    expect.stringMatching(/^ {2}lapses {3}.*\(1 min\)$/),
    '  wait     synod claim T2 --wait 10m',
    '',
  ]);
});

test('[CL4] a path cannot add a line of its own, nor colour one', () => {
  const failure = explainRefusal(overlap('a\n  holder   eve', '\u001b[2J'), 'later') as CliError;
  const lines = failureText(failure, false).split('\n');
  expect(lines[2]).toBe('  overlap  a\\n  holder   eve meets "\\u001b[2J"');
});

test('[CL10] a name that is held for another repository is told with both, and another name', () => {
  const held = { worktree: '/srv/other' } as Parameters<typeof claimRow>[0];
  const where = elsewhereText('T1', '/srv/app', held);
  expect(where).toContain('/srv/other, and you are in /srv/app');
  const failure = explainRefusal(overlap('a', 'a'), 'later', where) as CliError;
  expect(failureText(failure, false)).toMatch(/^ {2}where {4}\/srv\/other.*take app\/T1$/m);
  expect(elsewhereText('T1', '/srv/other', held)).toBeNull();
  expect(elsewhereText('T1', '/srv/app', undefined)).toBeNull();
});

test('what time does not cure is left as it is', () => {
  const failure = refusal({ error_code: 'x', message: 'm', detail: { reason: 'claim.cycle' } });
  expect(explainRefusal(failure, 'later')).toBe(failure);
});

test('a claim of many paths stays one bounded line', () => {
  const row = claimRow({
    task_id: 'T\n1',
    owner: 'ada',
    status: 'working',
    note: '',
    data_ref: '',
    version: 1,
    git: null,
    offered_to: null,
    claimed_at: 0,
    worktree: '/w',
    branch: null,
    paths: Array.from({ length: 500 }, (_, i) => `f${i}`),
    epoch: 1,
    checkpoint: null,
    lease_expires_at: 0,
  });
  expect(columns([row])[0]).toMatch(/^T\\n1 .*w: f0, f1, .*f7 and 492 more$/);
});
