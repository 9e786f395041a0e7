/** What is remembered by message: bounded by all of it, and each agent pays for its own. */
import { expect, test } from 'vitest';
import { mapOf, type Runs } from '../law/fields.ts';
import { ByMessage } from './by-message.ts';

test('[SH4] one that fills the bound pushes out its own oldest alone', () => {
  const memory = new ByMessage<number>();
  for (let i = 0; i < 300; i++) {
    if (i < 20) memory.set(i, 'ada', i);
    memory.set(i, 'eve', i);
    memory.makeRoom(100);
  }
  expect(memory.size).toBeLessThanOrEqual(100);
  const of = (agent: string): number[] =>
    Array.from({ length: 300 }, (_, i) => i).filter((i) => memory.get(i)?.has(agent));
  expect(of('ada')).toHaveLength(20);
  expect(of('eve').at(-1)).toBe(299);
  expect(of('eve').at(0)).toBe(300 - of('eve').length);
});

test('[SH4] when everybody has the same, the oldest go, and who lost what is said', () => {
  const memory = new ByMessage<number>();
  for (let i = 0; i < 34; i++) for (const agent of ['ada', 'bob', 'eve']) memory.set(i, agent, i);
  expect(memory.makeRoom(102)).toEqual(new Map());
  const behind = memory.makeRoom(100);
  expect([...behind.keys()].sort()).toEqual(['ada', 'bob', 'eve']);
  for (const [agent, position] of behind) {
    expect(memory.get(position - 1)?.has(agent) ?? false).toBe(false);
    expect(memory.get(position)?.has(agent)).toBe(true);
  }
  expect([memory.has(0), memory.get(33)?.size]).toEqual([false, 3]);
});

test('[M9] the bound counts what is remembered, not messages', () => {
  const memory = new ByMessage<number>();
  for (let i = 0; i < 501; i++) memory.set(7, `agent${i}`, i);
  expect(memory.size).toBe(501);
  memory.set(7, 'agent0', 5);
  memory.delete(7, 'nobody');
  memory.delete(8, 'agent0');
  expect([memory.size, memory.get(7)?.get('agent0')]).toEqual([501, 5]);
  memory.makeRoom(500);
  // A tenth, although all have the same and a level would take all.
  expect(memory.size).toBe(450);
  for (let i = 0; i < 501; i++) memory.delete(7, `agent${i}`);
  expect([memory.size, memory.has(7)]).toEqual([0, false]);
});

test('[L3] what a snapshot gives is the same in the same order', () => {
  const codec = ByMessage.codec(mapOf<string, number>());
  const memory = new ByMessage<number>();
  for (let i = 0; i < 300; i++) memory.set((i * 7) % 200, `agent${i % 3}`, i);
  const frozen = codec.freeze(memory) as Runs;
  memory.set(1_000, 'late', 1);
  const thawed = codec.thaw([...frozen.runs()].flat());
  expect([thawed.size, thawed.has(1_000)]).toEqual([memory.size - 1, false]);
  memory.delete(1_000, 'late');
  expect([...(codec.freeze(thawed) as Runs).runs()]).toEqual([...frozen.runs()]);
  expect(thawed.makeRoom(250)).toEqual(memory.makeRoom(250));
});
