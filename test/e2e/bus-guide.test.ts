/** docs/guide/bus.md names every key, limit and error there is, with the numbers the program has. */
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LIMIT_ROWS } from '../../src/bus/router/config-limits.ts';
import { BUS_ERRORS } from '../../src/bus/router/errors.ts';
import { POOL_SHAPE } from '../../src/bus/router/parse-config.ts';
import { readText, tableRows } from '../tidy/repository.ts';
import { openBusHome, talkOver } from './bus-process.ts';

const page = readText('docs/guide/bus.md');

function section(heading: string): string {
  const [, text = ''] = page.split(`${heading}\n`);
  return text.split(/^#+ /m)[0] ?? '';
}

const named = (cell = ''): string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string);

test('[BC12] every key of a pool', () => {
  const keys = tableRows(section('### `pools`'), 2).flatMap(([key]) => named(key));
  const known = Object.values(POOL_SHAPE).map(([name]) => name);
  expect(keys.toSorted()).toEqual(known.toSorted());
});

test('[BC12] every limit with its default', () => {
  const told = tableRows(section('### `limits`'), 3).flatMap(([keys, defaults = '']) => {
    const numbers = defaults.split(', ');
    return named(keys).map((key, i) => [key, Number(numbers[i])]);
  });
  const actual = Object.values(LIMIT_ROWS).map(({ name, usual }) => [name, usual]);
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

test.for([
  ['python', 'python3', 'worker.py'],
  ['sh', 'jq', 'worker.sh'],
] as const)('[BC13] the worker in %s answers', async ([language, program, name], { skip }) => {
  if (spawnSync(program, ['--version']).status !== 0) skip(`${program} is not installed`);
  const home = openBusHome();
  try {
    const block = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``);
    const [, code = ''] = block.exec(page.split('## A worker of your own\n')[1] ?? '') ?? [];
    writeFileSync(home.path(name), code);
    chmodSync(home.path(name), 0o755);
    const command =
      language === 'sh' ? { command: `./${name}` } : { command: program, args: [name] };
    const config = home.config({ pools: [{ id: 'mine', instances: 1, cwd: '.', ...command }] });
    const bus = home.start(['--config', config]);
    const talk = talkOver(bus.stdout, bus.stdin);
    talk.send({ jsonrpc: '2.0', method: 'told' });
    talk.send({ jsonrpc: '2.0', id: 7, method: 'first' });
    expect(await talk.next()).toEqual({ jsonrpc: '2.0', id: 7, result: { method: 'first' } });
    expect((await talk.ask('second', { id: 'x' })).result).toEqual({ method: 'second' });
    bus.stdin.end();
    expect(await bus.exited()).toBe(0);
    expect(bus.log).not.toMatch(/no message|killed/);
  } finally {
    await home.close();
  }
});
