import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { within } from '../../../test/e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { openHeadsBeside } from '../../log/heads.ts';
import { openHeadsFile, readHeads } from '../../log/heads-file.ts';
import { openMemoryLog } from '../../log/memory.ts';
import {
  hasGoodSignature,
  makeSigningKey,
  readSigningKey,
  type SigningKey,
} from '../../log/signed-head.ts';
import { ensureSigningKey } from '../../log/signing-key-file.ts';
import { openSpaceRecord } from './space-record.ts';

const work = mkdtempSync(join(tmpdir(), 'synod-record-'));
afterAll(() => rmSync(work, { recursive: true, force: true }));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(work, 'data-'));
});

const store = (): string => join(dir, 'spaces', 'default.sqlite');

async function used(...bodies: number[]): Promise<RunningHub> {
  const hub = await openRunningHub({ dir });
  for (const n of bodies) await hub.ask('ada', 'send', { channel: 'c', body: { n } });
  return hub;
}

describe('heads', () => {
  test('[RC1] are signed when the log is closed, beside it, and the next start finds them true', async () => {
    await (await used(1, 2)).close();
    const [signed] = readHeads(`${store()}.HEADS`).heads;
    expect(signed).toMatchObject({ space: 'default', key: expect.stringMatching(/^ed25519:/) });
    expect(signed && hasGoodSignature(signed)).toBe(true);
    expect(signed && hasGoodSignature({ ...signed, position: signed.position - 1 })).toBe(false);
    expect(statSync(`${store()}.HEADS`).mode & 0o777).toBe(0o600);
    const hub = await used();
    const { length, head, ...known } = await hub.admin('record_head');
    expect(known).toMatchObject({
      signed: { position: length, head, at: Date.parse(signed?.at ?? '') / 1000 },
      anchor: null,
    });
    expect([signed?.position, signed?.head]).toEqual([length, head]);
    expect(hub.log.filter((line) => line.startsWith('error'))).toEqual([]);
    await hub.close();
    // Nothing was stored, so nothing was signed.
    expect(readHeads(`${store()}.HEADS`).heads).toEqual([signed]);
  });

  test('[RC1] are signed as the log grows, of one moment each, and the file stays small', async () => {
    const key = readSigningKey(makeSigningKey()) as SigningKey;
    const log = openMemoryLog();
    const path = join(dir, 'log');
    const onTrouble = (what: string): never => expect.fail(what);
    const record = openSpaceRecord({
      ...{ space: 's', log, heads: openHeadsBeside(path), key, now: () => 0, onTrouble },
      maySign: () => true,
    });
    const positions = (): number[] =>
      readHeads(`${path}.HEADS`).heads.map(({ position }) => position);
    for (const signed of [[], [12_000], [12_000]]) {
      await log.append(log.length, Array<string>(6_000).fill('x'));
      record.onGrown();
      await expect.poll(positions).toEqual(signed);
    }
    await record.sign();
    expect(record.view().signed).toMatchObject({ position: 18_000, head: log.head });
    const file = openHeadsFile(join(dir, 'many'));
    const [one] = readHeads(`${path}.HEADS`).heads;
    for (let position = 1; position <= 2_500; position++) {
      if (one !== undefined) file.add({ ...one, position });
    }
    const kept = readHeads(join(dir, 'many')).heads.map(({ position }) => position);
    expect(kept.length).toBeLessThanOrEqual(1_000);
    expect([kept[0], kept.at(-1)]).toEqual([1, 2_500]);
  });

  test('[RC1] are signed every minute, and only when there is something new', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const hub = await used(1, 2);
    try {
      const signedAt = async (): Promise<number | null> =>
        (await hub.admin('record_head')).signed?.position ?? null;
      expect(await signedAt()).toBe(null);
      vi.advanceTimersByTime(59_999);
      expect(await signedAt()).toBe(null);
      const { length } = await hub.admin('record_head');
      vi.advanceTimersByTime(1);
      await expect.poll(signedAt, { timeout: 15_000 }).toBe(length);
      await hub.ask('ada', 'send', { channel: 'c', body: { n: 3 } });
      vi.advanceTimersByTime(60_000);
      await expect.poll(signedAt, { timeout: 15_000 }).toBe(length + 1);
      vi.advanceTimersByTime(600_000);
      expect(await signedAt()).toBe(length + 1);
      expect(readHeads(`${store()}.HEADS`).heads).toHaveLength(2);
    } finally {
      vi.useRealTimers();
      await hub.close();
    }
  });

  test('[RC4] that the log contradicts are told on opening and kept, and signing goes on', async () => {
    await (await used(1, 2, 3)).close();
    const db = new DatabaseSync(store());
    db.exec('DELETE FROM batches WHERE first > 1; DELETE FROM snapshots');
    db.close();
    const hub = await used(4);
    const told = hub.log.filter((line) => line.includes('says at least'));
    expect(told).toHaveLength(1);
    const [, aside = ''] = /kept in (\S+BROKEN-\d+)/.exec(told[0] ?? '') ?? [];
    expect(readHeads(aside).heads).toHaveLength(1);
    await hub.close();
    expect(readHeads(`${store()}.HEADS`).heads).toHaveLength(1);
    // A line that was changed is no signed head, or not one of that key.
    const line = readFileSync(`${store()}.HEADS`, 'utf8');
    writeFileSync(`${store()}.HEADS`, line.replace('"space":"default"', '"space":"defaults"'));
    const again = await used();
    expect(again.log.join()).toContain('does not carry the signature');
    await again.close();
  });
});

describe('the key', () => {
  test('[RC2] is made once, for its owner alone, outside the data directory', () => {
    const path = join(work, 'state', 'synod', 'record.key');
    const key = ensureSigningKey(path, dir);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(ensureSigningKey(path, dir).id).toBe(key.id);
    chmodSync(path, 0o640);
    expect(() => ensureSigningKey(path, dir)).toThrow(/log\.key: others may read.*chmod 600/);
    chmodSync(path, 0o600);
    writeFileSync(path, 'no key');
    expect(() => ensureSigningKey(path, dir)).toThrow(/log\.key: .*holds no Ed25519/);
  });

  test('[RC2] in the data directory, however that is spelt, is refused, and the hub does not start', async () => {
    mkdirSync(join(dir, 'keys'));
    symlinkSync(join(dir, 'keys'), join(work, 'elsewhere'));
    for (const path of [join(dir, 'record.key'), join(work, 'elsewhere', 'record.key')]) {
      const started = openRunningHub({ dir, file: { record_key: path } });
      await expect(started).rejects.toThrow(/log\.key: .*lies in the data directory/);
    }
  });

  test('[RC2] that nobody chose and cannot be had costs the signatures, which is said, and nothing else', async () => {
    const hub = await openRunningHub({ dir, env: { XDG_STATE_HOME: join(dir, 'state') } });
    expect(hub.log.join()).toContain('heads of logs are not signed');
    expect(await hub.admin('record_head')).toMatchObject({ signed: null });
    await hub.close();
  });
});

describe('the chain', () => {
  test('[RC5] is walked in a thread, and record.head says what was found', async () => {
    await (await used(1, 2, 3)).close();
    const walked = async (): Promise<{ ok: boolean; through: number; reason: string | null }> => {
      const hub = await openRunningHub({ dir, hooks: { verifyAfterMs: 1 } });
      const found = async () => {
        for (;;) {
          const { verified } = await hub.admin('record_head');
          if (verified !== null) return verified;
        }
      };
      const verified = await within('the chain is walked', found());
      await hub.close();
      return verified;
    };
    expect(await walked()).toMatchObject({ ok: true, reason: null });
    const db = new DatabaseSync(store());
    db.exec('UPDATE batches SET head = zeroblob(32) WHERE first = 1');
    db.close();
    expect(await walked()).toMatchObject({ ok: false, through: 1 });
  });
});
