/** Goal: transcripts take no more room than they may, and are found again. Method: real files. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createTranscripts, type OfTurn } from './transcripts.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-transcripts-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const of = (turn_id: string, attempt = 1): OfTurn => ({
  ...{ space: 'den', turn_id, agent_id: 'ada', attempt },
});
const room = { filesMax: 3, bytesMax: 10_000 };

test('[RU11] the oldest go first, by number and by size, and none that grows', () => {
  const all = createTranscripts(join(dir, 'a'), () => 1, room);
  const first = all.open(of('t1'), () => {});
  for (const id of ['t2', 't3', 't4']) {
    const one = all.open(of(id), () => {});
    one.append(`this is ${id}`);
    one.close();
  }
  expect(
    ['t1', 't2', 't3', 't4'].map((id) => existsSync(join(dir, 'a', 'den', `${id}.jsonl`))),
  ).toEqual([true, false, true, true]);
  const large = all.open(of('t5'), () => {});
  large.append('x'.repeat(9_990));
  large.close();
  expect(all.tail('den', 't4')).toEqual([]);
  first.close();
});

test('[RU11] attempts are one transcript, told to who follows, and found by the next hub', () => {
  const all = createTranscripts(join(dir, 'b'), () => 1, room);
  const told: unknown[] = [];
  const stop = all.follow((output) => told.push(output));
  for (const attempt of [1, 2]) {
    const one = all.open(of('t1', attempt), () => {});
    one.append(`attempt ${attempt}`);
    expect(all.tail('den', 't1').at(-1)?.text).toBe(`attempt ${attempt}`);
    one.close();
  }
  stop();
  const lines = [{ at: 1, from: 'out', text: 'attempt 1' }];
  expect(told[0]).toEqual({ space: 'den', turn_id: 't1', agent_id: 'ada', lines });
  expect(told).toHaveLength(2);
  const next = createTranscripts(join(dir, 'b'), () => 1, room);
  expect(next.tail('den', 't1').map(({ text }) => text)).toEqual(['attempt 1', 'attempt 2']);
  // A space that was made anew counts its turns anew.
  next.open(of('t1'), () => {}).close();
  expect(next.tail('den', 't1')).toEqual([]);
});
