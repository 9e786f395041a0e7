import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openOwnTurns } from './own-turns.ts';

test('[RU25] a turn is ours from one start to the next until it has ended, one that cannot be noted is not', () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-own-turns-'));
  const [turn, again] = [
    { id: 't1', epoch: 1 },
    { id: 't1', epoch: 2 },
  ];
  openOwnTurns(dir).add('default', turn);
  const next = openOwnTurns(dir);
  expect([next.has('default', turn), next.has('default', again)]).toEqual([true, false]);
  expect(next.has('other', turn)).toBe(false);
  next.remove('default', turn);
  expect(next.has('default', turn)).toBe(false);
  rmSync(dir, { recursive: true });
  next.add('default', turn);
  expect(next.has('default', turn)).toBe(false);
});
