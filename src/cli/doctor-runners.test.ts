import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type StandIn, writeStandIn } from '../server/runners/vendors/stand-in.fixture.ts';
import { examineRunners, type ManagedRow } from './doctor-runners.ts';

let folder = '';
let standIn: StandIn;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'synod-doctor-')));
  standIn = writeStandIn(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rows = (): ManagedRow[] => {
  const secret = join(folder, 'key');
  writeFileSync(secret, 'sk-1\n', { mode: 0o600 });
  return [
    { agent_id: 'ada', runner: { kind: 'claude', command: standIn('claude', 'good') } },
    {
      agent_id: 'bo',
      runner: {
        ...{ kind: 'codex', command: standIn('codex', 'good') },
        ...{ sign_in: 'api', secret: { file: secret } },
      },
    },
    { agent_id: 'cy', runner: { kind: 'acp', command: standIn('acp', 'old') } },
    { agent_id: 'di', runner: { kind: 'rule', rules: [] } },
  ];
};

test('[DO12] each runner of a vendor is told with its version and what a turn bills, or what it lacks', async () => {
  const found = await examineRunners(rows(), { env: process.env, isQuick: false });
  expect(found.map(({ state }) => state)).toEqual(['ok', 'ok', 'fail']);
  const [ada, bo, cy] = found.map(({ message }) => message);
  expect(ada).toMatch(/^ada: .* 9\.8\.7; a turn bills the subscription .*\(by claude\.ai\)$/);
  expect(bo).toMatch(/a turn bills the API, with the key from a file$/);
  expect(bo).not.toContain('sk-1');
  expect(cy).toContain('takes no MCP server over HTTP');
});

test('[DO12] with --quick no program is started', async () => {
  const found = await examineRunners(rows(), { env: { PATH: '' }, isQuick: true });
  expect(found.map(({ state }) => state)).toEqual(['skip', 'skip', 'skip']);
});
