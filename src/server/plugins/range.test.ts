/** Ranges in both dialects, against the versions a host might have. */

import { expect, test } from 'vitest';
import { parseRange } from './range.ts';
import { compareVersions, parseVersion, type Version } from './version.ts';

const admits = (range: string, version: string): boolean | null =>
  parseRange(range)?.admits(parseVersion(version) as Version) ?? null;

test.each([
  ['>=0.5,<1.0', '0.9.9', '1.0.0'],
  ['>=1.0, <2', '1.0.0', '2.0.0'],
  ['==1.0', '1.0.0', '1.0.1'],
  ['===1.0.0', '1.0.0', '1.0.1'],
  ['==1.0.*', '1.0.7', '1.1.0'],
  ['!=1.0.*', '1.1.0', '1.0.7'],
  ['!=1.0.1', '1.0.0', '1.0.1'],
  ['~=1.0', '1.9.0', '2.0.0'],
  ['~=1.0.3', '1.0.9', '1.1.0'],
  ['>=1.0.0a1,<2', '1.0.0-alpha.1', '1.0.0-alpha.0'],
  ['>1.0.0,<=1.2.0', '1.2.0', '1.0.0'],
])('[P2] PEP 440 %s admits %s and not %s', (range, inside, outside) => {
  expect([admits(range, inside), admits(range, outside)]).toEqual([true, false]);
});

test.each([
  ['1.0.0', '1.0.0', '1.0.1'],
  ['=1.0.0', '1.0.0', '1.0.1'],
  ['v1.0.0', '1.0.0', '1.0.1'],
  ['1', '1.9.0', '2.0.0'],
  ['1.0', '1.0.9', '1.1.0'],
  ['1.x', '1.9.0', '2.0.0'],
  ['1.0.x', '1.0.9', '1.1.0'],
  ['1.x.x', '1.9.0', '0.9.0'],
  ['^1.0.0', '1.9.0', '2.0.0'],
  ['^0.2.3', '0.2.9', '0.3.0'],
  ['^0.0.3', '0.0.3', '0.0.4'],
  ['^0.x', '0.9.0', '1.0.0'],
  ['^1.2', '1.2.0', '1.1.9'],
  ['~1.2.3', '1.2.9', '1.3.0'],
  ['~1', '1.9.0', '2.0.0'],
  ['1.0.0 - 1.2', '1.2.9', '1.3.0'],
  ['1.0 - 1.2.0', '1.2.0', '1.2.1'],
  ['>=1.0.0 <2.0.0', '1.5.0', '2.0.0'],
  ['>= 1.0.0 < 2.0.0', '1.5.0', '2.0.0'],
  ['>1.0', '1.1.0', '1.0.5'],
  ['<=1.0', '1.0.5', '1.1.0'],
  ['<1', '0.9.0', '1.0.0-rc.1'],
  ['0.9.x || ^1.0.0', '1.4.0', '2.0.0'],
])('[P2] npm %s admits %s and not %s', (range, inside, outside) => {
  expect([admits(range, inside), admits(range, outside)]).toEqual([true, false]);
});

test.each([
  '',
  '  ',
  'one',
  '^',
  '>=',
  '1.0.0,',
  '^1.0,<2',
  '~=1',
  '1.0.0 ||',
  '>=1.*,<2',
  '1.2.3.4',
])('[P1] %j is no range', (range) => {
  expect(parseRange(range)).toBeNull();
});

test('[P2] a range longer than its bound is refused', () => {
  expect(parseRange(`>=1.0${',!=1.1'.repeat(50)}`)).toBeNull();
});

test('[P2] * admits everything and says so', () => {
  expect(parseRange('*')?.isWildcard).toBe(true);
  expect(admits('*', '1.0.0')).toBe(true);
  expect(parseRange('1.x')?.isWildcard).toBe(false);
});

test.each([
  ['1.0.0a1', '1.0.0-alpha.1'],
  ['1.0.0b2', '1.0.0-beta.2'],
  ['1.0.0rc1', '1.0.0-rc.1'],
  ['1.0', '1.0.0'],
  ['1.0.0+build', '1.0.0'],
])('[P2] %s is the same version as %s', (a, b) => {
  expect(compareVersions(parseVersion(a) as Version, parseVersion(b) as Version)).toBe(0);
});

test('[P2] versions stand in the order of SemVer', () => {
  const ordered = [
    '1.0.0-1',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-alpha.beta',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    '1.0.0-rc.1',
    '1.0.0',
    '1.0.1',
    '1.10.0',
  ];
  const sorted = ordered
    .toReversed()
    .sort((a, b) => compareVersions(parseVersion(a) as Version, parseVersion(b) as Version));
  expect(sorted).toEqual(ordered);
});

test('[P2] a host on a pre-release counts as inside a wildcard', () => {
  expect(admits('1.x', '1.0.0-rc.1')).toBe(true);
  expect(admits('^1.0.0', '1.0.0-rc.1')).toBe(false);
  expect(admits('>=1.0.0rc1', '1.0.0-rc.1')).toBe(true);
});
