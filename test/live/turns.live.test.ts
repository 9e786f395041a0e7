/**
 * Claude Code and Codex as managed agents, from a message to its end: mail begins a turn, what the agent asks
 * for is a gate, a person decides, and the agent hears which end it came to. The model is ours, on loopback.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type CliName, cliPath } from './clis.ts';
import { type ModelServer, openModelServer } from './model-server.ts';
import { seen } from './patience.ts';
import { openScene, type Scene } from './scene.ts';
import { type Step, textShown } from './script.ts';
import { liveTest } from './stage.ts';
import { DUMMY_KEY } from './vendor.ts';

let scene: Scene | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

interface Side {
  readonly cli: CliName;
  readonly runner: (model: string) => object;
  readonly writes: (path: string) => Step;
}

const SIDES: readonly Side[] = [
  {
    cli: 'claude',
    runner: (model) => ({ kind: 'claude', env: { ANTHROPIC_BASE_URL: model } }),
    writes: (path) => ({ call: 'Bash', args: { command: `touch ${path}`, description: 'a file' } }),
  },
  {
    cli: 'codex',
    runner: (model) => ({
      ...{ kind: 'codex', model: 'scripted' },
      env: { OPENAI_BASE_URL: `${model}/v1` },
    }),
    writes: (path) => ({
      call: 'exec_command',
      args: { cmd: `touch ${path}`, sandbox_permissions: 'require_escalated', justification: 'so' },
    }),
  },
];

type Fields = Readonly<Record<string, unknown>>;

interface Opened {
  readonly scene: Scene;
  readonly model: ModelServer;
  readonly call: (name: string, input: object) => Promise<Fields>;
  /** The one gate that waits. */
  readonly gate: () => Promise<Fields>;
}

async function openManaged(side: Side): Promise<Opened> {
  const where = openScene();
  scene = where;
  const model = await openModelServer();
  where.atEnd(() => model.close());
  where.write('hub/synod.json', { turns_roots: [where.root] });
  const secret = where.write('secret', `${DUMMY_KEY}\n`, 0o600);
  const up = await where.synod('up', '--port', '0', '--config', join(where.hub, 'synod.json'));
  expect(up.code, up.stderr).toBe(0);
  const { url } = JSON.parse(readFileSync(join(where.hub, 'hub.json'), 'utf8')) as { url: string };
  const token = readFileSync(join(where.hub, 'credential'), 'utf8').trim();
  const call = async (name: string, input: object): Promise<Fields> => {
    const response = await fetch(`${url}/v1/ops/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(input),
    });
    const answer = (await response.json()) as Fields;
    expect(response.ok, `${name}: ${JSON.stringify(answer)}`).toBe(true);
    return answer;
  };
  await where.synod('subscribe', 'room', '--as', 'ada');
  await call('agents_manage', {
    agent_id: 'ada',
    runner: {
      ...side.runner(model.url),
      ...{ command: [cliPath(side.cli)], cwd: where.project, sign_in: 'api' },
      ...{ secret: { file: secret }, options: { ask_seconds: 5 } },
    },
  });
  const gate = async (): Promise<Fields> =>
    seen('a gate waits', async () => {
      const { gates } = (await call('gates_list', { state: 'pending' })) as { gates: Fields[] };
      return gates[0];
    });
  return { scene: where, model, call, gate };
}

describe.each(SIDES)('$cli', (side) => {
  liveTest(
    '[RV3] a managed agent asks through gates: approved, denied and expired are told apart',
    { needs: [side.cli] },
    async () => {
      const opened = await openManaged(side);
      const { model, call, gate } = opened;
      const files = ['a.txt', 'b.txt', 'c.txt'];
      model.play([...files.map(side.writes), { say: 'all tried' }]);
      const passphrase = 'correct horse battery';
      await call('people_add', { name: 'olga', passphrase });
      const { proof } = await call('people_prove', { name: 'olga', passphrase });
      await opened.scene.synod('tell', 'ada', 'make three files, please', '--as', 'bob');
      const first = await gate();
      expect(first).toMatchObject({
        asker: 'ada',
        subject: expect.stringContaining('touch a.txt'),
      });
      await call('gates_decide', { gate_id: first.gate_id, decision: 'approve', proof });
      const second = await seen('the second gate', async () => {
        const next = await gate();
        return next.gate_id !== first.gate_id && next;
      });
      const denial = { decision: 'deny', reason: 'not on a Friday', proof };
      await call('gates_decide', { gate_id: second.gate_id, ...denial });
      const turn = await seen('the turn has ended', async () => {
        const { turns } = (await call('turns_list', { agent_id: 'ada' })) as { turns: Fields[] };
        return turns.find(({ ended_at }) => ended_at !== null);
      });
      expect(turn).toMatchObject({ state: 'done', runner: side.cli });
      const there = files.map((file) => existsSync(join(opened.scene.project, file)));
      expect(there).toEqual([true, false, false]);
      const last = model.turns().at(-1) as NonNullable<ReturnType<ModelServer['turns']>[number]>;
      const told = `${textShown(last, 'tool')}\n${textShown(last, 'user')}`;
      expect(told).toContain('Denied by "olga"');
      expect(told).toContain('not on a Friday');
      expect(told).toContain('nobody answered in time');
    },
  );
});
