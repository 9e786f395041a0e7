/** The document and its lint as commands: what is printed, and the exit code. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ran } from '../../test/e2e/cli-run.ts';
import { run } from '../../test/e2e/doctor-scene.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'synod-manners-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const synod = (...args: string[]): Promise<Ran> =>
  run(args, { PATH: process.env.PATH ?? '', HOME: root }, root);

test('[DO11] our own document, as it is printed, passes the lint', async () => {
  const { stdout } = await synod('discipline');
  expect(stdout).toMatch(/^# Inter-agent channels\n/);
  expect(stdout).toContain('{{send_tool}}');
  writeFileSync(join(root, 'd.md'), stdout);
  expect(await synod('lint-discipline', 'd.md')).toEqual({
    code: 0,
    stdout: 'd.md: as it should be\n',
    stderr: '',
  });
});

test('[DO11] for a vendor it is the skill or the primer, with the true names', async () => {
  const skill = await synod('discipline', '--vendor', 'gemini');
  expect(skill.stdout).toMatch(/^---\nname: inter-agent-channels\n/);
  expect(skill.stdout).toContain('mcp_synod_channels__send');
  expect(skill.stdout).not.toContain('{{');
  const primer = await synod('discipline', '--vendor', 'opencode', '--primer');
  expect(primer.stdout).toMatch(/^## Synod: other agents work here too\n/);
  expect(await synod('discipline', '--vendor', 'emacs')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--vendor must be one of claude, codex, gemini, opencode'),
  });
  expect(await synod('discipline', '--primer')).toMatchObject({ code: 2 });
});

test('[DO11] faults are told with their lines, and leave with 1, as a file that is not there does', async () => {
  writeFileSync(join(root, 'd.md'), '# Inter-agent channels\n\nuse channels__send\n');
  const { code, stdout } = await synod('lint-discipline', 'd.md');
  expect(code).toBe(1);
  expect(stdout).toContain('d.md:3: channels__send is named');
  expect(stdout).toContain('d.md: "## When to send" is missing');
  const json = await synod('lint-discipline', 'd.md', '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, path: 'd.md' });
  expect(await synod('lint-discipline', 'none.md')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('cli.no-input: none.md: there is no such file'),
  });
});
