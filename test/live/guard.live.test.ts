/**
 * The guard, over what `synod install` wrote: what another agent has claimed is not written, by an edit
 * or by the shell, and the model reads who holds it and what helps; what nobody holds is written.
 */
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type Installed, type InstalledAgent, openInstalled, uses } from './installed.ts';
import { type ModelRequest, type Step, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import type { Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

const THEIRS = 'what the holder wrote\n';
const MINE = 'mine';

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

/** Another way to the same file: the shell for who has an edit tool, the patch for who has none. */
function otherWay({ name }: Vendor, path: string): Step | null {
  if (name === 'claude') {
    const args = { command: `printf ${MINE} > '${path}'`, description: 'writes the file' };
    return { call: 'Bash', args };
  }
  if (name !== 'codex') return null;
  const patch = `*** Begin Patch\n*** Add File: ${path}\n+${MINE}\n*** End Patch`;
  return { call: 'exec_command', args: { cmd: `apply_patch <<'EOF'\n${patch}\nEOF` } };
}

describe.each([
  { vendor: claude, holder: codex },
  { vendor: codex, holder: claude },
  { vendor: gemini, holder: opencode },
  { vendor: opencode, holder: gemini },
])('$vendor.name, and $holder.name holds', ({ vendor, holder }) => {
  const needs = [vendor.name, holder.name];

  liveTest('[LV28] a claimed file is not written, with holder and remedy', { needs }, async () => {
    installed = await openInstalled([vendor, holder]);
    const { scene } = installed;
    const [ann, ben] = installed.agents as readonly [InstalledAgent, InstalledAgent];
    const held = scene.write('project/src/held.ts', THEIRS);
    const free = join(scene.project, 'src', 'free.ts');
    const claim = { task_id: 'parser', paths: ['src/held.ts'] };
    await ben.run('Claim it.', [uses(ben, 'claims__take', claim), { say: 'claimed' }]);
    const { stdout } = await scene.synod('claims', '--json', '--as', holder.name);
    expect(stdout).toContain('src/held.ts');

    const other = otherWay(vendor, held);
    const ran = await ann.run('Edit both.', [
      vendor.lookAt(held),
      vendor.writeFile(held, MINE),
      ...(other === null ? [] : [other]),
      vendor.writeFile(free, MINE),
      { say: 'one of two' },
    ]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(scene.read('project/src/held.ts')).toBe(THEIRS);
    expect(scene.read('project/src/free.ts')).toBe(MINE);
    const said = textShown(ann.model.turns().at(-1) as ModelRequest, 'tool');
    expect(said).toContain(`is held by ${holder.name} (claim parser`);
    expect(said).toContain('What helps:');
    expect(said).toContain(vendor.toolName('claims__take'));
    const refusals = said.split('Synod: not written:').length - 1;
    expect(refusals).toBe(other === null ? 1 : 2);
  });
});
