/**
 * Who is at work, as others see it, over what `synod install` wrote: what a vendor's hooks tell while a
 * tool runs, while a person is asked, and when all is done.
 */
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type Installed, type InstalledAgent, openInstalled, uses } from './installed.ts';
import { STARTS_MS, seen } from './patience.ts';
import { liveTest } from './stage.ts';
import { hasTerminal, openTerminal } from './terminal.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { openCodexTerminal } from './vendors/codex-open.ts';
import { gemini } from './vendors/gemini.ts';
import { opencode } from './vendors/opencode.ts';

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

interface Row {
  readonly agent_id: string;
  readonly state: string;
  readonly note: string | null;
}

/** Waits until others see the agent in this state; answers with what they see. */
async function sees({ scene, vendor }: InstalledAgent, state: string, note: RegExp | null) {
  return seen(
    `${vendor.name} is ${state} ${note ?? ''}`,
    async () => {
      const { stdout } = await scene.synod('who', '--json', '--as', 'bob');
      const { agents } = JSON.parse(stdout) as { agents: readonly Row[] };
      const row = agents.find((one) => one.agent_id === vendor.name);
      const isNoted = note === null ? row?.note === null : note.test(row?.note ?? '');
      return row?.state === state && isNoted ? row : null;
    },
    STARTS_MS,
  );
}

describe('claude', () => {
  liveTest(
    '[LV35] who says what Claude Code asks its person, what it runs, and that it is done',
    { needs: ['claude'], skip: !hasTerminal },
    async () => {
      installed = await openInstalled([claude]);
      const [agent] = installed.agents as readonly [InstalledAgent];
      const { scene, model, setup } = agent;
      const gate = join(scene.root, 'gate');
      scene.write('project/wait.sh', `until [ -e '${gate}' ]; do sleep 0.1; done\n`);
      const settings = JSON.parse(scene.read('home/.claude/settings.json'));
      settings.permissions.allow.push('Bash(sh wait.sh)');
      scene.write('home/.claude/settings.json', settings);
      model.play([
        { call: 'Bash', args: { command: 'touch asked', description: 'Makes a file' } },
        { call: 'Bash', args: { command: 'sh wait.sh', description: 'Waits for the gate' } },
        { say: 'done' },
      ]);
      const terminal = openTerminal(
        scene,
        'claude',
        ['--permission-mode', 'default', 'Begin.'],
        claude.env(setup),
      );
      await sees(agent, 'blocked', /^asks leave for: Bash: touch asked$/);
      await terminal.shows(/Do you want|proceed/);
      terminal.press('Enter');
      await sees(agent, 'busy', /^Bash: Waits for the gate$/);
      scene.write('gate', '');
      await sees(agent, 'idle', null);
      expect(scene.has('project/asked')).toBe(true);
    },
  );
});

describe('codex', () => {
  liveTest(
    '[LV35] who says what Codex runs, and that it is done',
    { needs: ['codex'], skip: !hasTerminal },
    async () => {
      installed = await openInstalled([codex]);
      const [agent] = installed.agents as readonly [InstalledAgent];
      const { scene, model } = agent;
      const gate = join(scene.root, 'gate');
      const cmd = `until [ -e '${gate}' ]; do sleep 0.1; done`;
      model.play([{ call: 'exec_command', args: { cmd, yield_time_ms: 30_000 } }, { say: 'done' }]);
      await openCodexTerminal(agent, 'Begin.');
      await sees(agent, 'busy', /^Bash: until/);
      scene.write('gate', '');
      await sees(agent, 'idle', null);
    },
  );
});

describe.each([
  {
    vendor: gemini,
    tool: 'run_shell_command',
    args: ['-i', 'Begin.', '-m', 'gemini-2.5-pro', '--approval-mode', 'yolo'],
  },
  { vendor: opencode, tool: 'bash', args: ['--prompt', 'Begin.'] },
])('$vendor.name', ({ vendor, tool, args }) => {
  liveTest(
    '[LV35] who says what it runs, and that it is done',
    { needs: [vendor.name], skip: !hasTerminal, timeoutMs: 2 * STARTS_MS },
    async () => {
      installed = await openInstalled([vendor]);
      const [agent] = installed.agents as readonly [InstalledAgent];
      const { scene, model, setup } = agent;
      const gate = join(scene.root, 'gate');
      scene.write('project/wait.sh', `until [ -e '${gate}' ]; do sleep 0.1; done\n`);
      const ran = { command: 'sh wait.sh', description: 'Waits for the gate' };
      model.play([{ call: tool, args: ran }, { say: 'done' }]);
      openTerminal(scene, vendor.name, args, vendor.env(setup));
      await sees(agent, 'busy', new RegExp(`^${tool}: (Waits for the gate|sh wait.sh)$`));
      scene.write('gate', '');
      await sees(agent, 'idle', null);
    },
  );
});

liveTest(
  '[LV37] a claim of a session that ended is freed by its owner, and who says that it is gone',
  { needs: ['claude'] },
  async () => {
    installed = await openInstalled([claude]);
    const [agent] = installed.agents as readonly [InstalledAgent];
    const { scene } = agent;
    const claim = { task_id: 'parser', paths: ['src/parser.ts'] };
    const ran = await agent.run('Claim it.', [uses(agent, 'claims__take', claim), { say: 'mine' }]);
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    await sees(agent, 'gone', null);
    const refused = await scene.synod('claim', 'parser', 'src/parser.ts', '--as', 'bob');
    expect(refused.stderr).toContain('is held by claude');
    expect(await scene.synod('release', 'parser', '--force')).toMatchObject({ code: 0 });
    expect(await scene.synod('claim', 'parser', 'src/parser.ts', '--as', 'bob')).toMatchObject({
      code: 0,
    });
  },
);
