/**
 * Permission prompts of vendors in a terminal, over what `synod install --gates` wrote: one is approved, one
 * denied, one not answered in time, and one answered at the terminal. What the model is told and what is
 * on the disk afterwards says which.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type Installed, type InstalledAgent, openInstalled } from './installed.ts';
import { STARTS_MS, seen } from './patience.ts';
import { type Step, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import { hasTerminal, openTerminal, type Terminal } from './terminal.ts';
import type { Vendor } from './vendor.ts';
import { claude } from './vendors/claude.ts';
import { codex } from './vendors/codex.ts';
import { openCodexTerminal } from './vendors/codex-open.ts';
import { opencode } from './vendors/opencode.ts';

let installed: Installed | undefined;
afterEach(async () => await installed?.close());

type Fields = Readonly<Record<string, unknown>>;
const PERSON = { name: 'olga', passphrase: 'correct horse battery' };
const WAIT_SECONDS = 12;
const AGAIN_MS = 2_000;

interface Side {
  readonly vendor: Vendor;
  readonly open: (agent: InstalledAgent) => Promise<Terminal>;
  readonly touches: (path: string) => Step;
  /** What its own dialog says. */
  readonly dialog: RegExp;
  /** Whether it shows the dialog while its hook still waits. */
  readonly isBeside: boolean;
}

const SIDES: readonly Side[] = [
  {
    vendor: claude,
    open: async ({ scene, setup }) =>
      openTerminal(scene, 'claude', ['--permission-mode', 'default', 'Begin.'], claude.env(setup)),
    touches: (path) => ({
      call: 'Bash',
      args: { command: `touch ${path}`, description: 'a file' },
    }),
    dialog: /Do you want|proceed/,
    isBeside: true,
  },
  {
    vendor: codex,
    open: (agent) => openCodexTerminal(agent, 'Begin.'),
    touches: (path) => ({
      call: 'exec_command',
      args: { cmd: `touch ${path}`, sandbox_permissions: 'require_escalated', justification: 'so' },
    }),
    dialog: /Would you like|Yes, proceed/,
    isBeside: false,
  },
  {
    vendor: opencode,
    open: async ({ scene, setup }) => {
      const path = 'home/.config/opencode/opencode.json';
      scene.write(path, { ...JSON.parse(scene.read(path)), permission: { bash: 'ask' } });
      return openTerminal(scene, 'opencode', ['--prompt', 'Begin.'], opencode.env(setup));
    },
    touches: (path) => ({
      call: 'bash',
      args: { command: `touch ${path}`, description: 'a file' },
    }),
    dialog: /Permission required|Allow once/,
    isBeside: true,
  },
];

function caller({ hub }: InstalledAgent['scene']) {
  const { url } = JSON.parse(readFileSync(join(hub, 'hub.json'), 'utf8')) as { url: string };
  const token = readFileSync(join(hub, 'credential'), 'utf8').trim();
  return async (name: string, input: object): Promise<Fields> => {
    const response = await fetch(`${url}/v1/ops/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    });
    const answer = (await response.json()) as Fields;
    expect(response.ok, `${name}: ${JSON.stringify(answer)}`).toBe(true);
    return answer;
  };
}

/** A dialog that is drawn may not hear keys yet: Enter again, until the file that it let be made is there. */
async function answerDialog(terminal: Terminal, dialog: RegExp, path: string): Promise<void> {
  await terminal.shows(dialog);
  let pressedAt = Number.NEGATIVE_INFINITY;
  await seen(`the dialog for ${path} is answered`, () => {
    if (existsSync(path)) return true;
    const now = performance.now();
    if (now - pressedAt < AGAIN_MS || !dialog.test(terminal.screen())) return false;
    pressedAt = now;
    terminal.press('Enter');
    return false;
  });
}

describe.each(SIDES)('$vendor.name', ({ vendor, open, touches, dialog, isBeside }) => {
  liveTest(
    '[LV38] a prompt is approved, denied, expired or answered at the terminal, and told apart',
    { needs: [vendor.name], skip: !hasTerminal, timeoutMs: 2 * STARTS_MS },
    async () => {
      installed = await openInstalled([vendor], [], ['--gates', '--gates-wait', `${WAIT_SECONDS}`]);
      const [agent] = installed.agents as readonly [InstalledAgent];
      const { scene, model } = agent;
      const call = caller(scene);
      await call('people_add', PERSON);
      const { proof } = await call('people_prove', PERSON);
      const gate = (state: string, path: string): Promise<Fields> =>
        seen(
          `the gate for ${path} is ${state}`,
          async () => {
            const { gates } = (await call('gates_list', { state })) as { gates: Fields[] };
            return gates.find(({ subject }) => String(subject).includes(`touch ${path}`));
          },
          STARTS_MS,
        );
      const files = ['a.txt', 'b.txt', 'c.txt', 'd.txt'];
      model.play([...files.map(touches), { say: 'all tried' }]);
      const terminal = await open(agent);
      const first = await gate('pending', 'a.txt');
      expect(first).toMatchObject({ asker: vendor.name });
      await call('gates_decide', { gate_id: first.gate_id, decision: 'approve', proof });
      const second = await gate('pending', 'b.txt');
      const denial = { decision: 'deny', reason: 'not on a Friday', proof };
      await call('gates_decide', { gate_id: second.gate_id, ...denial });
      await gate('expired', 'c.txt');
      // As if nothing had been: its own dialog, and whoever sits there answers.
      await answerDialog(terminal, dialog, join(scene.project, 'c.txt'));
      await gate('pending', 'd.txt');
      if (isBeside) {
        await answerDialog(terminal, dialog, join(scene.project, 'd.txt'));
        await gate('withdrawn', 'd.txt');
      } else {
        const last = await gate('pending', 'd.txt');
        await call('gates_decide', { gate_id: last.gate_id, decision: 'approve', proof });
      }
      await seen('all were tried', () => existsSync(join(scene.project, 'd.txt')));
      const there = files.map((file) => existsSync(join(scene.project, file)));
      expect(there).toEqual([true, false, true, true]);
      const told = await seen('the model was told', () => {
        const shown = model
          .turns()
          .map((request) => textShown(request, 'tool'))
          .join('\n');
        return /Denied by \\*"olga/.test(shown) && shown;
      });
      expect(told).toContain('not on a Friday');
    },
  );
});
