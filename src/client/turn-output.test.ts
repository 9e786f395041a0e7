import { afterEach, beforeEach, expect, test } from 'vitest';
import { openScriptedHub, type ScriptedHub, type Seat } from '../../test/client/scripted-hub.ts';
import { type Client, createClient } from './client.ts';

let hub: ScriptedHub;
let client: Client;

beforeEach(async () => {
  hub = await openScriptedHub();
  client = createClient({ url: hub.url, reconnect: { random: () => 0 }, bufferMax: 2 });
  await hub.seat();
});

afterEach(async () => {
  const closing = client.close();
  await hub.close();
  await closing;
});

async function confirm(): Promise<Seat> {
  const seat = await hub.seat();
  const asked = await seat.asked();
  expect(asked.params).toMatchObject({ from: 'now', turns: true });
  seat.answer(asked, { stream: 's1', position: 4 });
  return seat;
}

test('[K15] what turns say comes as it is said, and falling behind costs lines alone', async () => {
  const said = client.turnOutput();
  const first = await confirm();
  await said.ready;
  const line = (text: string) => ({
    ...{ turn_id: 't1', agent_id: 'ada', lines: [{ at: 1, from: 'out', text }] },
  });
  first.push('message', { seq: 1 });
  for (const text of ['one', 'two', 'three']) first.push('turn.output', line(text));
  first.cut();
  const second = await confirm();
  const texts = [await said.next(), await said.next()].map(({ value }) => value?.lines[0]?.text);
  expect(texts).toEqual(['one', 'two']);
  second.push('turn.output', line('four'));
  expect((await said.next()).value).toMatchObject({ agent_id: 'ada', lines: [{ text: 'four' }] });
});
