/**
 * Goal: what a vendor's agent asks permission for is a gate at the hub, decided by a person and nobody else.
 * Method: a hub with its doors open, a person with a passphrase, and stand-ins of the vendors' programs.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, connect } from '../../src/client/client.ts';
import { AcpClient } from '../../src/flow/process/client/acp-client.ts';
import type {
  AgentClient,
  AgentClientOptions,
} from '../../src/flow/process/client/agent-client.ts';
import type { AgentItem } from '../../src/flow/process/client/agent-item.ts';
import { ClaudeClient } from '../../src/flow/process/client/claude-client.ts';
import { CodexClient } from '../../src/flow/process/client/codex-client.ts';
import {
  type StandInKind,
  writeClientStandIn,
} from '../../src/flow/process/client/stand-in.fixture.ts';
import { type AttackedHub, openAttackedHub } from '../attack/attacked-hub.ts';
import { until } from './deadline.ts';
import type { Json } from './running-hub.ts';

const PERSON = { name: 'mia', passphrase: 'correct horse battery' };
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-client-gates-')));
const command = writeClientStandIn(folder);
let hub: AttackedHub;
let own: Client;
let proof: string;

beforeAll(async () => {
  hub = await openAttackedHub();
  await hub.owned.ask('people_add', PERSON);
  ({ proof } = await hub.owned.ask('people_prove', PERSON));
  const { token } = await hub.admin('tokens_create', { agent_id: 'builder' });
  own = await connect({ url: hub.url, token });
});
afterAll(async () => {
  await own.close();
  await hub.close();
  rmSync(folder, { recursive: true, force: true });
});

function open(kind: StandInKind): AgentClient {
  const options: AgentClientOptions = { command: command(kind), cwd: folder, hub: own };
  if (kind === 'codex') return new CodexClient(options);
  return kind === 'claude'
    ? new ClaudeClient(options)
    : new AcpClient('the agent', command(kind), options);
}

/** Gates that wait for a person now. */
const pending = (): Promise<Json[]> =>
  hub.owned.ask('gates_list', { state: 'pending' }).then(({ gates }) => gates);

const asked = async (subject: string): Promise<Json> =>
  (
    await until('a gate is asked', pending, (gates) =>
      gates.some((gate) => gate.subject.includes(subject)),
    )
  ).find((gate) => gate.subject.includes(subject));

test.each(['codex', 'claude', 'acp'] as const)(
  '[VC3] %s: a gate is approved or denied by a person, and withdrawn with its turn',
  async (kind) => {
    await using client = open(kind);
    const session = await client.start();
    const turn = session.run(`ask touch ${kind}-a;ask touch ${kind}-b`);
    const items: AgentItem[] = [];
    const read = (async () => {
      for await (const item of turn) items.push(item);
    })();
    const first = await asked(`touch ${kind}-a`);
    expect(first).toMatchObject({ asker: 'builder', state: 'pending' });
    await hub.owned.ask('gates_decide', { gate_id: first.gate_id, decision: 'approve', proof });
    const second = await asked(`touch ${kind}-b`);
    const no = { gate_id: second.gate_id, decision: 'deny', reason: 'not on a Friday', proof };
    await hub.owned.ask('gates_decide', no);
    await read;
    const said = items.flatMap((item) => (item.type === 'text' ? [item.text] : []));
    expect(said).toEqual(
      expect.arrayContaining([`done touch ${kind}-a`, `not done touch ${kind}-b`]),
    );
    const approvals = items.filter((item) => item.type === 'approval');
    expect(approvals).toMatchObject([
      { state: 'approved', words: expect.stringContaining('"mia"') },
      { state: 'denied', words: expect.stringContaining('not on a Friday') },
    ]);
    // An approval is used up: it is for this once.
    const used = await hub.owned.ask('gates_get', { gate_id: first.gate_id });
    expect(used.state).toBe('consumed');

    const other = session.run(`ask touch ${kind}-c;hang`);
    const third = await asked(`touch ${kind}-c`);
    await other.interrupt();
    const ended = () => hub.owned.ask('gates_get', { gate_id: third.gate_id });
    await until('the gate is withdrawn', ended, (one: Json) => one.state === 'withdrawn');
  },
);
