import {
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openFileLog } from './file.ts';
import type { Log } from './log.ts';
import { RECORD_HEADER_BYTES } from './segment.ts';
import { verifyLog } from './verify.ts';

const root = mkdtempSync(join(tmpdir(), 'synod-file-log-'));
afterAll(() => rmSync(root, { recursive: true }));

const FIRST = '0000000000000000.segment';

interface Sample {
  readonly dir: string;
  readonly segment: string;
  /** Where the last record starts and the file ends. */
  readonly start: number;
  readonly end: number;
}

/** A closed log of three appends: a, b+c, d+e. */
async function sample(): Promise<Sample> {
  const dir = join(mkdtempSync(join(root, 'case-')), 'log');
  const segment = join(dir, FIRST);
  const log = await openFileLog(dir);
  await log.append(0, ['a']);
  await log.append(1, ['b', 'c']);
  const start = statSync(segment).size;
  await log.append(3, ['d', 'e'.repeat(50)]);
  await log.close();
  return { dir, segment, start, end: statSync(segment).size };
}

function copyOf(dir: string): string {
  const copy = join(mkdtempSync(join(root, 'copy-')), 'log');
  cpSync(dir, copy, { recursive: true });
  return copy;
}

function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0x04;
  writeFileSync(path, bytes);
}

async function all(log: Log): Promise<string[]> {
  const entries: string[] = [];
  for await (const chunk of log.read(0)) entries.push(...chunk.entries);
  return entries;
}

describe('a torn tail', () => {
  test('[G7] cut at every byte of the last record: saved aside, cut, and writable again', async () => {
    const { dir, start, end } = await sample();
    for (let size = start; size < end; size++) {
      const copy = copyOf(dir);
      const segment = join(copy, FIRST);
      truncateSync(segment, size);
      const torn = readFileSync(segment).subarray(start);
      const log = await openFileLog(copy);
      expect(await all(log)).toEqual(['a', 'b', 'c']);
      expect(existsSync(`${segment}.torn-${start}`)).toBe(size > start);
      if (size > start) expect(readFileSync(`${segment}.torn-${start}`)).toEqual(torn);
      expect(await log.append(3, ['again'])).toEqual({ length: 4 });
      await log.close();
      const again = await openFileLog(copy);
      expect(await all(again)).toEqual(['a', 'b', 'c', 'again']);
      expect(await verifyLog(again)).toMatchObject({ ok: true, length: 4 });
      await again.close();
      rmSync(copy, { recursive: true });
    }
  });

  test('[G7] a last record of zeros, as a crash of the machine leaves it, is cut', async () => {
    const { dir, segment, start, end } = await sample();
    truncateSync(segment, start);
    truncateSync(segment, end + 4096);
    const log = await openFileLog(dir);
    expect(await all(log)).toEqual(['a', 'b', 'c']);
    expect(statSync(segment).size).toBe(start);
    await log.close();
  });

  test('[G7] a segment that a crash left without its header is set aside', async () => {
    const { dir } = await sample();
    writeFileSync(join(dir, '0000000000000005.segment'), 'half');
    const log = await openFileLog(dir);
    expect(log.length).toBe(5);
    expect(await log.append(5, ['on'])).toEqual({ length: 6 });
    await log.close();
    expect(readFileSync(join(dir, '0000000000000005.segment.torn-0'), 'utf8')).toBe('half');
  });

  test('[G7] a read-only opening cuts nothing, and verify says where the tear is', async () => {
    const { dir, segment, end } = await sample();
    truncateSync(segment, end - 1);
    const log = await openFileLog(dir, { readOnly: true });
    expect(await verifyLog(log)).toMatchObject({ ok: false, position: 3 });
    await log.close();
    expect(statSync(segment).size).toBe(end - 1);
    expect(readdirSync(dir).sort()).toEqual([FIRST, 'format']);
  });
});

describe('damage', () => {
  test('[G8] damage before a sound record is refused with file and position, and nothing is changed', async () => {
    const { dir, start } = await sample();
    const names = readdirSync(dir);
    // From behind the segment's header to the start of the last record, every byte.
    for (let at = 48; at < start; at++) {
      const copy = copyOf(dir);
      const segment = join(copy, FIRST);
      flip(segment, at);
      const before = readFileSync(segment);
      const position = at < 48 + RECORD_HEADER_BYTES + 4 + 8 + 1 ? 0 : 1;
      await expect(openFileLog(copy)).rejects.toMatchObject({
        code: 'log.corrupt',
        path: segment,
        message: expect.stringMatching(`position ${position}\\).*restore`),
      });
      expect(readFileSync(segment)).toEqual(before);
      expect(readdirSync(copy)).toEqual(names);
      rmSync(copy, { recursive: true });
    }
  });

  test('[G8] a changed byte anywhere in any segment is found by verify', async () => {
    const dir = join(mkdtempSync(join(root, 'case-')), 'log');
    const log = await openFileLog(dir, { segmentBytesMax: 250 });
    for (let position = 0; position < 6; position++)
      await log.append(position, [`entry ${position}`]);
    await log.close();
    const segments = readdirSync(dir).filter((name) => name.endsWith('.segment'));
    expect(segments.length).toBeGreaterThan(1);
    for (const name of segments) {
      for (let at = 0; at < statSync(join(dir, name)).size; at++) {
        const path = join(dir, name);
        const sound = readFileSync(path);
        flip(path, at);
        const damaged = await openFileLog(dir, { readOnly: true });
        const verdict = await verifyLog(damaged);
        await damaged.close();
        expect(verdict, `byte ${at} of ${name}`).toMatchObject({ ok: false });
        writeFileSync(path, sound);
      }
    }
  });

  test('[G8] a changed entry is named exactly, and read and at refuse to serve it', async () => {
    const { dir, segment, end } = await sample();
    flip(segment, end - 1);
    const log = await openFileLog(dir, { readOnly: true });
    expect(await verifyLog(log)).toMatchObject({ ok: false, position: 4 });
    await expect(log.at([4])).rejects.toMatchObject({ code: 'log.corrupt' });
    expect(await log.at([3])).toEqual(['d']);
    await expect(all(log)).rejects.toMatchObject({ code: 'log.corrupt' });
    await log.close();
  });

  test('[G8] a missing segment is found', async () => {
    const dir = join(mkdtempSync(join(root, 'case-')), 'log');
    const log = await openFileLog(dir, { segmentBytesMax: 1 });
    for (let position = 0; position < 3; position++) await log.append(position, ['x']);
    await log.close();
    rmSync(join(dir, '0000000000000001.segment'));
    const damaged = await openFileLog(dir, { readOnly: true });
    expect(await verifyLog(damaged)).toMatchObject({ ok: false, position: 1 });
    await damaged.close();
    rmSync(join(dir, FIRST));
    await expect(openFileLog(dir)).rejects.toMatchObject({ code: 'log.corrupt' });
  });

  test('a damaged newest snapshot gives way to the one before it', async () => {
    const { dir } = await sample();
    const log = await openFileLog(dir);
    const older = { position: log.length, head: log.head, text: 'older' };
    await log.saveSnapshot(older);
    await log.append(5, ['f']);
    await log.saveSnapshot({ position: 6, head: log.head, text: 'newer' });
    const newest = join(dir, '0000000000000006.snapshot');
    flip(newest, statSync(newest).size - 1);
    expect(await log.loadSnapshot()).toEqual(older);
    await log.close();
  });
});

describe('the directory', () => {
  test('files are the owner’s alone', async () => {
    const { dir } = await sample();
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  });

  test('only the newest two snapshots are kept, and drafts of a crash are removed', async () => {
    const { dir } = await sample();
    writeFileSync(join(dir, '0000000000000009.snapshot.draft'), 'half');
    const log = await openFileLog(dir);
    for (let turn = 0; turn < 4; turn++) {
      await log.saveSnapshot({ position: log.length, head: log.head, text: '' });
      await log.append(log.length, ['x']);
    }
    await log.close();
    expect(readdirSync(dir).filter((name) => name.includes('snapshot'))).toEqual([
      '0000000000000007.snapshot',
      '0000000000000008.snapshot',
    ]);
  });

  test('[H8] snapshots that lie ahead are left there, and crowd out none of ours', async () => {
    const { dir } = await sample();
    const foreign = ['0000000000000500.snapshot', '0000000000000600.snapshot'];
    for (const name of foreign) writeFileSync(join(dir, name), 'of another log');
    const log = await openFileLog(dir);
    const refused: string[] = [];
    const snapshot = { position: log.length, head: log.head, text: 'ours' };
    await log.saveSnapshot(snapshot);
    expect(await log.loadSnapshot(({ code }) => refused.push(code))).toEqual(snapshot);
    expect(refused).toEqual(['log.snapshot', 'log.snapshot']);
    await log.close();
    expect(readdirSync(dir)).toEqual(expect.arrayContaining(foreign));
  });

  test.each([
    ['synod-log 3\n', 'log.newer', /format 3.*upgrade synod/],
    ['something else', 'log.corrupt', /nothing was changed/],
  ])('a format marker that says %j is refused', async (marker, code, message) => {
    const { dir } = await sample();
    writeFileSync(join(dir, 'format'), marker);
    for (const readOnly of [false, true]) {
      await expect(openFileLog(dir, { readOnly })).rejects.toMatchObject({
        code,
        path: join(dir, 'format'),
        message: expect.stringMatching(message),
      });
    }
    expect(readFileSync(join(dir, 'format'), 'utf8')).toBe(marker);
  });

  test('segments without a marker are not taken over', async () => {
    const { dir } = await sample();
    rmSync(join(dir, 'format'));
    await expect(openFileLog(dir)).rejects.toMatchObject({ code: 'log.corrupt' });
    expect(readdirSync(dir)).toEqual([FIRST]);
  });

  test('a path that is a file is unavailable and says so', async () => {
    const path = join(mkdtempSync(join(root, 'case-')), 'file');
    writeFileSync(path, 'mine');
    await expect(openFileLog(path)).rejects.toMatchObject({ code: 'log.unavailable' });
    expect(readFileSync(path, 'utf8')).toBe('mine');
  });
});

// Needs /proc to find the descriptor that belongs to the log.
test.skipIf(process.platform !== 'linux')(
  '[G9] a failed write that cannot be taken back is not known to be stored, and no later append is taken',
  async () => {
    const { dir, segment, end } = await sample();
    const log = await openFileLog(dir);
    const descriptor = readdirSync('/proc/self/fd').find((name) => pointsTo(name, segment));
    closeSync(Number(descriptor));
    // The lowest free number is given out again: the log now holds a file that it cannot write to.
    expect(openSync(segment, 'r')).toBe(Number(descriptor));
    await expect(log.append(5, ['x'])).rejects.toMatchObject({ code: 'log.unknown' });
    await expect(log.append(5, ['x'])).rejects.toMatchObject({ code: 'log.unavailable' });
    expect(log.length).toBe(5);
    expect(statSync(segment).size).toBe(end);
  },
);

function pointsTo(descriptor: string, path: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  } catch {
    // The descriptor that listed the directory is gone by now.
    return false;
  }
}
