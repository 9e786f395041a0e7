/**
 * How an agent is run is started as the hub's user, who owns every space: a token of one space, also a
 * person's or an administrator's, chooses among the runners that the owner wrote down, and learns
 * nothing of the disk by trying others.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let base = '';
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'synod-programs-'));
  hub = await openAttackedHub({
    file: {
      turns_roots: [base],
      runners: { greeter: { kind: 'rule', rules: [{ pattern: 'hi', answer: 'hello' }] } },
    },
    hooks: { env: { PATH: process.env.PATH } },
  });
});
afterAll(async () => {
  await hub.close();
  rmSync(base, { recursive: true, force: true });
});

const model = { kind: 'model', base_url: 'http://127.0.0.1:1/v1', model: 'm' };
const argv = (): string[] => ['/bin/sh', '-c', `touch ${base}/ran`];

test('[RU22] a token names a runner or one that starts nothing; the owner alone says what is started', async () => {
  const specs: object[] = [
    { kind: 'command', command: argv() },
    { kind: 'claude', command: argv() },
    { kind: 'codex', command: argv() },
    { kind: 'acp', command: argv() },
    { kind: 'claude', env: { NODE_OPTIONS: '--require /tmp/x.js' } },
    { kind: 'pool', pool: 'x' },
    { ...model },
    { ...model, secret: { file: join(hub.dir, 'credential') } },
    { ...model, secret: { command: argv() } },
    // What is tried tells nothing of the disk.
    { kind: 'rule', rules: [], cwd: base },
    { kind: 'rule', rules: [], cwd: join(base, 'nothing') },
  ];
  for (const holder of [hub.spaceAdmin, hub.human]) {
    for (const runner of specs) {
      const refused = await holder.refusal('agents_manage', { agent_id: 'ada', runner });
      expect([runner, refused.detail.reason]).toEqual([runner, 'access.denied']);
      expect(refused.detail.violations[0].field).toBe('runner');
    }
  }
  expect((await hub.owned.ask('agents_managed')).agents).toEqual([]);
  for (const runner of ['greeter', { kind: 'rule', rules: [] }, { kind: 'outside' }]) {
    await hub.human.ask('agents_manage', { agent_id: 'ada', runner });
  }
  await hub.owned.ask('agents_manage', { agent_id: 'ada', runner: specs[0] });
  expect(existsSync(join(base, 'ran'))).toBe(false);
});

test('[RU22] nobody else is asked at all: neither an agent, nor an observer, nor a turn', async () => {
  await hub.owned.ask('agents_manage', { agent_id: 'bob', runner: { kind: 'outside' } });
  await hub.other.ask('subscribe', { pattern: 'jobs' });
  await hub.agent.ask('send', { channel: 'jobs', body: { text: 'go' } });
  const { token } = await hub.owned.ask('turns_take', { agents: ['bob'], wait_ms: 20_000 });
  const turn = { authorization: `Bearer ${token}` };
  for (const headers of [hub.agent.headers, hub.untrusted.headers, hub.observer.headers, turn]) {
    for (const [operation, input] of [
      ['agents_manage', { agent_id: 'bob', runner: { kind: 'outside' } }],
      ['agents_unmanage', { agent_id: 'bob' }],
      ['turns_take', {}],
      ['turns_pause', { all: true }],
      ['turns_resume', { all: true }],
      ['turns_cancel', { turn_id: 't1' }],
      ['turns_retry', { turn_id: 't1' }],
      ['turns_renew', { turn_id: 't1', epoch: 1, pid: 1 }],
      ['turns_finish', { turn_id: 't1', epoch: 1, outcome: 'done' }],
      ['tokens_create', { agent_id: 'bob', tier: 'owner' }],
      ['people_add', { name: 'me', passphrase: 'long enough' }],
      ['people_prove', { name: 'me', passphrase: 'long enough' }],
      ['docket_close', { item_id: 'd1', outcome: 'done' }],
    ] as const) {
      const { body } = await hub.post(operation, input, headers);
      expect([operation, body.detail?.reason]).toEqual([operation, 'access.denied']);
    }
  }
  expect((await hub.owned.ask('agents_managed')).agents).toHaveLength(2);
});

test('[RU22] a runner under the name of another is that other', async () => {
  const disguised = { kind: 'rule', name: 'greeter', rules: [] };
  const { runner } = await hub.human.ask('agents_manage', { agent_id: 'ada', runner: disguised });
  expect(runner.rules).toHaveLength(1);
  const unknown = { kind: 'rule', name: 'nope', rules: [] };
  const { detail } = await hub.human.refusal('agents_manage', { agent_id: 'ada', runner: unknown });
  expect(detail.reason).toBe('runner.unknown');
});
