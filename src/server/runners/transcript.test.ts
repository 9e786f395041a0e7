/** Goal: a transcript is bounded, private and can be read while it grows. Method: real files. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { TurnLine } from '../desk/turn-window.ts';
import { openTranscript, readTail } from './transcript.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-transcript-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function open(name: string, bytesMax?: number) {
  const bundles: (readonly TurnLine[])[] = [];
  let signs = 0;
  const transcript = openTranscript({
    ...{ path: join(dir, name), now: () => 1_000, onSign: () => void signs++ },
    onLines: (lines) => void bundles.push(lines),
    ...(bytesMax !== undefined && { bytesMax }),
  });
  return { transcript, bundles, signs: () => signs };
}

test('[RU11] it is on disk for its owner alone, in order, and every line is a sign of life', () => {
  const { transcript, bundles, signs } = open('plain');
  transcript.append('one');
  transcript.append('two', 'err');
  expect(transcript.tail().map(({ text }) => text)).toEqual(['one', 'two']);
  transcript.close();
  transcript.append('late');
  expect(statSync(transcript.path).mode & 0o777).toBe(0o600);
  const lines = [
    { at: 1_000, from: 'out', text: 'one' },
    { at: 1_000, from: 'err', text: 'two' },
  ];
  expect(readTail(transcript.path)).toEqual(lines);
  expect(bundles).toEqual([lines]);
  expect(signs()).toBe(2);
  expect(readTail(join(dir, 'none'))).toEqual([]);
});

test('[RU11] it is bounded on disk, in memory and for those who watch', () => {
  const { transcript, bundles } = open('long', 10_000);
  for (let i = 0; i < 5_000; i++) transcript.append(`line ${i}`);
  transcript.append('x'.repeat(1024 * 1024));
  transcript.close();
  expect(statSync(transcript.path).size).toBeLessThan(10_200);
  expect(readTail(transcript.path).at(-1)?.text).toMatch(/^\(the transcript is full/);
  expect(transcript.tail().length).toBeLessThanOrEqual(200);
  expect(transcript.tail().at(-1)?.text.length).toBeLessThan(4_100);
  expect(Math.max(...bundles.map((lines) => lines.length))).toBeLessThanOrEqual(200);
});

test('[RU11] a long one is read from its end, whole lines alone', () => {
  const { transcript } = open('end');
  for (let i = 0; i < 3_000; i++) transcript.append(`${i} ${'y'.repeat(50)}`);
  transcript.close();
  const tail = readTail(transcript.path);
  expect(tail).toHaveLength(200);
  expect(tail.at(-1)?.text).toMatch(/^2999 /);
});

test('[RU10] a secret that is hidden is in none of it', () => {
  const { transcript, bundles } = open('secret');
  transcript.hide('sk-12345');
  transcript.hide('a');
  transcript.append('my key is sk-12345, sk-12345!');
  transcript.close();
  const all = JSON.stringify([readFileSync(transcript.path, 'utf8'), bundles, transcript.tail()]);
  expect(all).not.toContain('sk-12345');
  expect(all).toContain('my key is [secret], [secret]!');
  expect(transcript.clean('sk-12345')).toBe('[secret]');
});
