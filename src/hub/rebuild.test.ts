import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Log, Snapshot } from '../log/log.ts';
import { LogError } from '../log/log.ts';
import { openMemoryLog } from '../log/memory.ts';
import { openRig } from '../testing/rig.ts';
import { codeOf, createPrincipal } from '../testing/story.ts';
import { rebuildWorld } from './rebuild.ts';

const SENT = '{"type":"message.sent","at":1,"by":"ada","channel":"c","seq":1,"body":{}}';

async function logOf(...entries: string[]): Promise<Log> {
  const log = openMemoryLog();
  await log.append(0, entries);
  return log;
}

async function failureOf(log: Log): Promise<LogError> {
  const failure = await rebuildWorld(log, () => {}).catch((error: unknown) => error);
  if (!(failure instanceof LogError)) throw new Error('it was read');
  return failure;
}

test('[L2] a log with an entry of a newer program is refused with its position and the way out', async () => {
  const log = await logOf(SENT, '{"type":"future.thing","at":2}');
  const { head } = log;
  const failure = await failureOf(log);
  expect(failure.code).toBe('log.newer');
  expect(failure.message).toMatch(/entry 1 .*future\.thing.*nothing was changed.*upgrade synod/);
  expect([log.length, log.head]).toEqual([2, head]);
});

test('[L2] so is one with an entry of a shape nothing lifts', async () => {
  const failure = await failureOf(await logOf(SENT, SENT.replace('"seq":1', '"seq":"one"')));
  expect(failure.code).toBe('log.shape');
  expect(failure.message).toMatch(/entry 1 .*message\.sent without a seq.*restore/);
});

test('[L2] so is one that evolves into no world: its fields are there and mean nothing', async () => {
  const taken = { type: 'claim.taken', at: 1, by: 'ada', id: 't', epoch: 1, scope: {}, ttlMs: 1 };
  const entry = JSON.stringify({ ...taken, note: null, git: null, inheritedFrom: null });
  const failure = await failureOf(await logOf(SENT, entry));
  expect(failure.code).toBe('log.shape');
  expect(failure.message).toContain('entry 1 ');
});

test('[H8] a snapshot that does not match its log is refused by name, and the log is read', async () => {
  const told: unknown[] = [];
  const log = await logOf(SENT);
  const why = new LogError('log.snapshot', 'it is of another log');
  const loadSnapshot = async (onRefused?: (why: LogError) => void): Promise<Snapshot | null> => {
    onRefused?.(why);
    return null;
  };
  const world = await rebuildWorld({ ...log, length: 1, loadSnapshot }, (_, cause) =>
    told.push(cause),
  );
  expect([world.length, told]).toEqual([1, [why]]);
});

test('[L2] a hub at work that meets an entry of a newer writer takes nothing more, and says why', async () => {
  const rig = await openRig(() => setImmediate());
  const ada = createPrincipal('ada');
  expect(await rig.until(rig.send(ada, 'c'))).toMatchObject({ seq: 1 });
  const { length } = rig.log;
  await rig.until(rig.log.append(length, ['{"type":"future.thing","at":1}']));
  const refused = await rig.until(rig.send(ada, 'c'));
  expect(codeOf(refused)).toMatch(/^store\./);
  expect(rig.hub.isAvailable).toBe(false);
  expect(rig.causes).toContainEqual(expect.objectContaining({ code: 'log.newer' }));
  expect(rig.log.length).toBe(length + 1);
});
