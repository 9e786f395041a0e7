/** The guides of teams and of processes: their commands run, their files are read, their program prints what they say. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readTeam } from '../../src/cli/team-file.ts';
import { ROOT, readText } from './repository.ts';
import { environment } from './shell-blocks.ts';

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'synod-team-guides-'));
const env = { ...environment(home), SYNOD_AGENT: 'pat' };

async function printed(script: string): Promise<string> {
  const whole = `set -e\nsynod() { '${ROOT}bin/synod' "$@"; }\n${script}`;
  const { stdout } = await run('bash', ['-c', whole], { cwd: ROOT, env, timeout: 60_000 });
  return stdout;
}

function blocksOf(page: string, language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm');
  return [...readText(page).matchAll(fenced)].map(([, block]) => block as string);
}

async function until(command: string, wanted: RegExp): Promise<string> {
  for (const end = Date.now() + 60_000; ; ) {
    const said = await printed(command);
    if (wanted.test(said)) return said;
    expect(Date.now(), `${command} never said ${wanted}:\n${said}`).toBeLessThan(end);
  }
}

beforeAll(() => printed('synod up').then(() => {}), 60_000);
afterAll(async () => {
  await printed('synod down');
  rmSync(home, { recursive: true, force: true });
});

const shape = (text: string): string => text.replace(/for \d+ \w+/g, 'for T').replace(/ +/g, ' ');

test('[TE2] [TE4] the team that costs nothing does what the guide says', async () => {
  const page = 'docs/guide/team.md';
  const [start = '', send = '', show = '', stop = ''] = blocksOf(page, 'sh');
  const [before = '', after = ''] = blocksOf(page, 'text');
  expect(shape(await printed(start))).toBe(shape(before));
  await printed(send);
  const done = await until(show, /crane .*asleep.* 1 turn .*wren .*asleep.* 1 turn .*look +done/s);
  expect(shape(done)).toBe(shape(after));
  expect(await printed(stop)).toBe('stopped: crane, wren\n');
}, 120_000);

test('[TE1] the file of the guide is one, and so are those that ship', () => {
  const [file = ''] = blocksOf('docs/guide/team.md', 'yaml');
  const path = join(home, 'team.yaml');
  writeFileSync(path, file);
  expect(readTeam(path).agents.map(({ name }) => name)).toEqual(['heron', 'otter', 'minnow']);
  for (const name of ['team', 'quiet']) readTeam(`${ROOT}examples/team/${name}.yaml`);
});

test('[SU1] the commands and the first program of the guide of processes run as written', async () => {
  const page = 'docs/guide/processes.md';
  const [define = ''] = blocksOf(page, 'sh');
  expect(await printed(define)).toMatch(/^indexer +defined +index +0 of 1 there$/m);
  const [program = ''] = blocksOf(page, 'ts');
  const path = join(home, 'first.ts');
  const here = program
    .replace(`'synod'`, `'${ROOT}src/client/index.ts'`)
    .replace(`'synod/flow'`, `'${ROOT}src/flow/index.ts'`);
  writeFileSync(path, here);
  const { url } = JSON.parse(readFileSync(join(home, 'hub', 'hub.json'), 'utf8'));
  const owner = readFileSync(join(home, 'hub', 'credential'), 'utf8').trim();
  const said = await printed(`'${process.execPath}' '${path}' '${url}' '${owner}'`);
  expect(said).toBe('starting\nrunning\ntrue\nstopping\nstopped\n');
});
