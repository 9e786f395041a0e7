/**
 * Goal: what a killed hub left is ended by the next one, and nothing else is.
 * Method: real processes in groups of their own, and records that name them rightly and wrongly.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { MARK_NAME } from '../../bus/process/live-groups.ts';
import { bornAt } from '../../bus/process/process-groups.ts';
import { openLiveRecord } from './live-record.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-record-'));
const path = join(dir, 'live');
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const MARK = '11111111-2222-3333-4444-555555555555';
const isLinux = process.platform === 'linux';
const boot = isLinux ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : '';

async function sleeper(env: Record<string, string> = {}): Promise<number> {
  const child = spawn('sleep', ['300'], { detached: true, stdio: 'ignore', env });
  started.push(child);
  await new Promise((resolve) => child.once('spawn', resolve));
  return child.pid as number;
}

/** Whether it ends; of one that must live on, that nothing comes for a while is all there is to see. */
function isGone(pid: number, quietMs = 20_000): Promise<boolean> {
  const child = started.find((one) => one.pid === pid);
  return new Promise((resolve) => {
    if (child?.signalCode === 'SIGKILL') return resolve(true);
    child?.once('exit', () => resolve(true));
    setTimeout(() => resolve(false), quietMs);
  });
}

const write = (lines: readonly string[]): void => writeFileSync(path, `${lines.join('\n')}\n`);

describe.runIf(isLinux)('the record of live groups', () => {
  test('[RU6] ends a group that is named with the moment it began', async () => {
    const pid = await sleeper();
    write([`boot ${boot}`, `mark ${MARK}`, `+ ${pid} ${bornAt(pid)} ${MARK}.x`]);
    await openLiveRecord(path);
    expect(await isGone(pid)).toBe(true);
  });

  test('[RU6] finds by its mark what was started and not yet written down', async () => {
    const pid = await sleeper({ [MARK_NAME]: `${MARK}.y` });
    write([`boot ${boot}`, `mark ${MARK}`]);
    await openLiveRecord(path);
    expect(await isGone(pid)).toBe(true);
  });

  test('[RU6] leaves alone who has the number now, who ended, and what another boot named', async () => {
    const [other, done, booted] = [await sleeper(), await sleeper(), await sleeper()];
    const born = Number(bornAt(other));
    write([`boot ${boot}`, `+ ${other} ${born - 1} x`, `+ ${done} ${bornAt(done)} x`, `- ${done}`]);
    await openLiveRecord(path);
    write([`boot ${MARK}`, `mark ${MARK}`, `+ ${booted} ${bornAt(booted)} x`]);
    await openLiveRecord(path);
    write(['mark ', '+ 0 - x', '+ -1 - x', '+ x', 'nonsense', `boot ${boot}`]);
    await openLiveRecord(path);
    const gone = [other, done, booted].map((pid) => isGone(pid, 300));
    expect(await Promise.all(gone)).toEqual([false, false, false]);
  });

  test('[RU6] is for its owner alone and forgets what has ended', async () => {
    rmSync(path);
    const record = await openLiveRecord(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    record.add(process.pid, 'm.1');
    record.add(process.ppid, 'm.2');
    record.remove(process.pid);
    expect(readFileSync(path, 'utf8')).toContain(`+ ${process.ppid} ${bornAt(process.ppid)} m.2`);
    record.remove(process.ppid);
    expect(readFileSync(path, 'utf8')).toMatch(/^boot [0-9a-f-]{36}\nmark [0-9a-f]{32}\n$/);
  });
});
