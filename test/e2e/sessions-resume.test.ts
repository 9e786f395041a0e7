/**
 * Goal: whatever process goes on with a session reads the bytes that the one before it left, after any
 * number of approvals, with the process killed each time and the hub started again in between.
 * Method: random numbers of rounds, each in a process of its own that dies waiting for a person.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterEach, expect, test } from 'vitest';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

const WORKER = fileURLToPath(new URL('./session-worker.ts', import.meta.url));
const children = new Set<ChildProcess>();
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
});

/** One round in a process of its own; what it said, when it is dead. */
async function die(hub: RunningHub, key: string, round: number, gate: string): Promise<Json> {
  const child = spawn(process.execPath, [WORKER, hub.url, hub.owner, key, String(round), gate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.add(child);
  const lines = createInterface({ input: child.stdout });
  const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(30_000) });
  child.kill('SIGKILL');
  await once(child, 'exit');
  children.delete(child);
  return JSON.parse(line as string);
}

async function approve(hub: RunningHub, gate_id: string): Promise<void> {
  const mia = { name: 'mia', passphrase: 'correct horse battery' };
  if ((await hub.admin('people_list')).people.length === 0) await hub.admin('people_add', mia);
  const { proof } = await hub.admin('people_prove', mia);
  await hub.admin('gates_decide', { gate_id, decision: 'approve', proof });
}

test('[SN9] [SN4] killed and resumed after any number of approvals, the items are equal to the byte', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-resume-'));
  let hub = await openRunningHub({ dir });
  let runs = 0;
  const rounds = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(rounds, async (restarts) => {
      const key = `run ${++runs}`;
      let left = '[]';
      let gate = '';
      for (const [round, isRestarted] of restarts.entries()) {
        const said = await die(hub, key, round, gate);
        expect(said.read).toBe(left);
        ({ left, gate } = said);
        const torn = JSON.parse(left).at(-1);
        expect(torn).toMatchObject({ kind: 'tool_result', state: 'unknown', index: null });
        if (isRestarted) {
          await hub.close();
          hub = await openRunningHub({ dir });
        }
        await approve(hub, gate);
      }
      const { sessions } = await hub.ask('ada', 'sessions.list', { key });
      const { items } = await hub.ask('ada', 'sessions.get', {
        session_id: sessions[0].session_id,
      });
      expect(JSON.stringify(items)).toBe(left);
      const results = items.filter(
        ({ kind, index }: Json) => kind === 'tool_result' && index !== null,
      );
      expect(results.map(({ output }: Json) => output.state)).toEqual(
        Array(restarts.length - 1).fill('approved'),
      );
      expect(new Set(items.flatMap(({ key: one }: Json) => one ?? [])).size).toBe(restarts.length);
    }),
    { numRuns: 5 },
  );
  await hub.close();
  await rm(dir, { recursive: true, force: true });
}, 180_000);
