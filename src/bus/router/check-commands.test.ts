/** Whether the commands of a config are there. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { configOf } from '../../../test/simulation/bus/small-bus.ts';
import { missingCommands } from './check-commands.ts';

test('[BC15] a command is looked for where its workers would find it, and a folder where it is said', () => {
  const dir = mkdtempSync(join(tmpdir(), 'synod-commands-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  for (const name of ['program', 'text']) writeFileSync(join(dir, name), '#!/bin/sh\n');
  chmodSync(join(dir, 'program'), 0o755);
  const found = (...pools: { command: string; cwd?: string; env?: Record<string, string> }[]) =>
    missingCommands(configOf({ pools: pools.map((pool, i) => ({ id: `p${i}`, ...pool })) }), {
      PATH: `/nowhere:${dir}`,
    }).map(({ field }) => field);
  expect(
    found(
      { command: 'program' },
      { command: join(dir, 'program') },
      { command: './program', cwd: dir },
      { command: 'sh', env: { PATH: '/bin:/usr/bin' } },
    ),
  ).toEqual([]);
  expect(
    found(
      { command: 'progrm' },
      { command: join(dir, 'text') },
      { command: dir },
      { command: 'program', env: { PATH: '/nowhere' } },
      { command: 'program', cwd: join(dir, 'gone') },
    ),
  ).toEqual([
    'pools[0].command',
    'pools[1].command',
    'pools[2].command',
    'pools[3].command',
    'pools[4].cwd',
  ]);
});
