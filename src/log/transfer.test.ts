import { expect, test } from 'vitest';
import type { Log } from './log.ts';
import { openMemoryLog } from './memory.ts';
import { exportLog, importLog } from './transfer.ts';
import { verifyLog } from './verify.ts';

async function filled(): Promise<Log> {
  const log = openMemoryLog();
  await log.append(0, ['a', 'ä\n"']);
  await log.append(2, ['c']);
  await log.append(3, ['d', 'e', 'f']);
  await log.append(6, ['g']);
  return log;
}

async function linesOf(log: Log, from = 0): Promise<string[]> {
  const lines: string[] = [];
  await exportLog(log, from, (line) => void lines.push(line));
  return lines;
}

test('[G11] an imported log has the same entries, batches and heads', async () => {
  const source = await filled();
  const lines = await linesOf(source);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    synod_log: 1,
    from: 0,
    length: 7,
    head: source.head,
    previous: '0'.repeat(64),
  });
  expect(lines.every((line) => !line.includes('\n'))).toBe(true);
  const target = openMemoryLog();
  expect(await importLog(target, lines)).toEqual({
    length: 7,
    head: source.head,
    appended: 7,
    skipped: 0,
    isComplete: true,
  });
  expect(await linesOf(target)).toEqual(lines);
  expect(await verifyLog(target)).toMatchObject({ ok: true });
});

test('[G11] an import broken at any character of the text goes on where it stopped', async () => {
  const source = await filled();
  const text = (await linesOf(source)).join('\n');
  const header = text.indexOf('\n');
  for (let cut = header; cut <= text.length; cut++) {
    const target = openMemoryLog();
    const part = await importLog(target, text.slice(0, cut).split('\n'));
    expect(part.isComplete).toBe(target.length === 7);
    const rest = await importLog(target, text.split('\n'));
    expect(rest).toMatchObject({ head: source.head, isComplete: true, skipped: part.appended });
  }
});

test('[G11] an export from the middle starts with the batch that holds it and joins a log that ends there', async () => {
  const source = await filled();
  const lines = await linesOf(source, 4);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ from: 3 });
  const target = openMemoryLog();
  await target.append(0, ['a', 'ä\n"']);
  await expect(importLog(target, lines)).rejects.toMatchObject({
    code: 'log.position',
    message: expect.stringMatching(/starts at 3.*ends at 2/),
  });
  await target.append(2, ['c']);
  expect(await importLog(target, lines)).toMatchObject({ appended: 4, head: source.head });
  expect(await linesOf(source, 7)).toHaveLength(1);
});

test('[G11] a log that disagrees is refused with the position and left as it is', async () => {
  const lines = await linesOf(await filled());
  const target = openMemoryLog();
  await target.append(0, ['a', 'ä\n"']);
  await target.append(2, ['other']);
  const { head } = target;
  await expect(importLog(target, lines)).rejects.toMatchObject({
    code: 'log.diverged',
    message: expect.stringContaining('position 2'),
  });
  const reshaped = openMemoryLog();
  await reshaped.append(0, ['a']);
  await expect(importLog(reshaped, lines)).rejects.toMatchObject({ code: 'log.diverged' });
  const elsewhere = openMemoryLog();
  for (const entry of ['x', 'y', 'z']) await elsewhere.append(elsewhere.length, [entry]);
  const later = await linesOf(await filled(), 3);
  await expect(importLog(elsewhere, later)).rejects.toMatchObject({
    code: 'log.diverged',
    message: expect.stringContaining('position 3'),
  });
  expect([target.head, target.length, reshaped.length]).toEqual([head, 3, 1]);
});

test('[G11] a changed, missing or foreign line is refused, and what was good before it stays', async () => {
  const lines = await linesOf(await filled());
  const cases: [string[], string, RegExp, number][] = [
    [lines.map((line) => line.replace('"e"', '"E"')), 'log.corrupt', /position 3/, 3],
    [lines.filter((_, index) => index !== 2), 'log.corrupt', /from position 2 to 3/, 2],
    [lines.toSpliced(2, 0, '{"first":2,'), 'log.corrupt', /line 3/, 2],
    [lines.toSpliced(2, 1, '[]'), 'log.corrupt', /line 3/, 2],
    [lines.slice(1), 'log.corrupt', /header/, 0],
    [[], 'log.corrupt', /no header/, 0],
    [['{"synod_log":3}'], 'log.newer', /upgrade synod/, 0],
  ];
  for (const [text, code, message, length] of cases) {
    const target = openMemoryLog();
    const expected = { code, message: expect.stringMatching(message) };
    await expect(importLog(target, text)).rejects.toMatchObject(expected);
    expect(target.length).toBe(length);
  }
});
