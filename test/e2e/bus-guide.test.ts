/** docs/guide/bus.md names every key, limit and error there is, with the numbers the program has. */
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS, type Limits } from '../../src/bus/config.ts';
import { BUS_ERRORS } from '../../src/bus/errors.ts';
import { LIMIT_ROWS } from '../../src/bus/parse-config-limits.ts';
import { POOL_KEYS } from '../../src/bus/parse-config-pool.ts';
import { readText, tableRows } from '../tidy/repository.ts';

const page = readText('docs/guide/bus.md');

function section(heading: string): string {
  const [, text = ''] = page.split(`${heading}\n`);
  return text.split(/^#+ /m)[0] ?? '';
}

const named = (cell = ''): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);

test('[BC12] every key of a pool', () => {
  const keys = tableRows(section('### `pools`'), 2).flatMap(([key]) => named(key));
  expect(keys.toSorted()).toEqual(POOL_KEYS.toSorted());
});

test('[BC12] every limit with its default', () => {
  const told = tableRows(section('### `limits`'), 3).flatMap(([keys, defaults = '']) => {
    const numbers = defaults.split(', ');
    return named(keys).map((key, i) => [key, Number(numbers[i])]);
  });
  const actual = Object.entries(LIMIT_ROWS).map(([key, { name, unit }]) => {
    const value = DEFAULT_LIMITS[key as keyof Limits];
    return [name, unit === 'seconds' ? value / 1_000 : value];
  });
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(actual));
});

test('[BC12] every error with its number', () => {
  const told = tableRows(section('### Errors'), 3).flatMap(([code, number]) =>
    named(code).map((name) => [name, Number(number)]),
  );
  const actual = Object.entries(BUS_ERRORS).map(([code, { rpc }]) => [code, rpc]);
  expect(Object.fromEntries(told.filter(([name]) => name !== 'data.code'))).toEqual(
    Object.fromEntries(actual),
  );
});
