/** Ends of texts, and that no pattern of ours takes the square of a text that a caller wrote. */
import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { trimmedEnd } from './trimmed-end.ts';

test('what stands at the end is taken off, and nothing before it', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('/', 'a', '.') }), (text) => {
      expect(trimmedEnd(text, '/')).toBe(text.replace(/\/+$/, ''));
      expect(trimmedEnd(text, '/.')).toBe(text.replace(/[/.]+$/, ''));
    }),
  );
});

/** A pattern, or a branch of one, that is a run of one thing up to the end; and `(.+?)\s*$` likewise. */
const RUN_TO_END = /(?:[(\s=,]\/|\|)(?:\[[^\]]+\]|\\.|[^\\/^|[(])[+*]\$|\+\?\)\\s\*\$\//;

test('[SV8] nothing that reads what a caller wrote seeks a run to the end of it from every place', () => {
  const rooms = ['core', 'wire', 'place', 'server', 'bus/router', 'bus/process'];
  const src = `${import.meta.dirname}/../..`;
  const found = rooms
    .flatMap((room) => globSync(`${room}/**/*.ts`, { cwd: src }))
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) =>
      readFileSync(`${src}/${path}`, 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line))
        .filter((line) => RUN_TO_END.test(line))
        .map((line) => `${path}: ${line.trim()}`),
    );
  expect(found).toEqual([]);
});

test('the pattern that seeks them finds the ones there were', () => {
  for (const one of [
    'name.replace(/[.…]+$/u, "")',
    'worktree.replace(/\\/+$/, "")',
    'text.replace(/^(\\.\\/)+|\\/+$/g, "")',
    'PATCH_MARK = /^x: (.+?)\\s*$/;',
  ])
    expect(RUN_TO_END.test(one), one).toBe(true);
  expect(RUN_TO_END.test('= /^[a-z]+$/')).toBe(false);
});
