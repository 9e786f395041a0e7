/** Knocking fills nothing and hides nothing: the record of refusals has a place for everybody. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../e2e/deadline.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

/** What is on the record, as it lies on the disk: `by operation`. */
async function recorded(): Promise<string[]> {
  const folder = join(hub.dir, 'spaces');
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'latin1')));
  const found = texts
    .join('')
    .matchAll(/"type":"refusal\.recorded","at":\d+,"by":"([^"]*)","operation":"([^"]*)"/g);
  return [...found].map(([, by, operation]) => `${by} ${operation}`);
}

/** The numbers of refusals that were left out, of one caller. */
const leftOut = (lines: readonly string[], by: string): number[] =>
  [...new Set(lines)].flatMap((line) => {
    const [, count] = /(\d+) more refusals, not written down/.exec(line) ?? [];
    return line.startsWith(`${by} `) && count !== undefined ? [Number(count)] : [];
  });

test('[L4] strangers and a known caller that knock without end leave room for another’s refusal', async () => {
  const before = (await hub.agent.ask('status')).entries;
  const knocks = Array.from({ length: 150 }, () => [
    hub.post('whoami', {}, { authorization: 'Bearer wrong', 'x-sox-agent-id': 'stranger' }),
    hub.untrusted.post('tokens_list'),
  ]);
  await Promise.all(knocks.flat());
  await hub.other.refusal('replay', { channel: 'dm/ada~mallory' });
  expect((await hub.agent.ask('status')).entries - before).toBeLessThan(150);
  const lines = await until('bob is on the record', recorded, (some) =>
    some.includes('bob replay'),
  );
  expect(lines).toContain('__stranger__ authenticate as stranger');
  expect(lines).toContain('mallory tokens_list');
});

test('[L4] what was left out is counted on the record', async () => {
  for (const by of ['__stranger__', 'mallory']) {
    const counts = await until(
      `what ${by} was refused besides`,
      async () => leftOut(await recorded(), by),
      (found) => found.length > 0,
    );
    expect(counts[0]).toBeGreaterThan(0);
    expect(counts[0]).toBeLessThan(150);
  }
});

test('[L4] [SP3] what is refused in a space that is then not made is on the record of the default one', async () => {
  const input = { channel: 'sox/acks', body: {} };
  const { status } = await hub.post('send', input, hub.as('carl', 'misspelt'));
  expect(status).not.toBe(200);
  await until('carl is on the record', recorded, (lines) =>
    lines.includes('carl send in space misspelt'),
  );
  expect(await readdir(join(hub.dir, 'spaces'))).not.toContain('misspelt.sqlite');
});
