/** The OpenAI Agents SDK on a session of the hub, with the SDK's own runner and a model that is scripted. */
import {
  Agent,
  type AgentInputItem,
  type Model,
  type ModelRequest,
  type ModelResponse,
  Runner,
  RunState,
  type Session as SdkSession,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { type Client, connect } from '../../client/client.ts';
import { openAiSession } from './openai-session.ts';
import { openSession } from './session.ts';

let running: RunningHub;
let hub: Client;
beforeAll(async () => {
  setTracingDisabled(true);
  running = await openRunningHub();
  hub = await connect({ url: running.url, token: running.owner, agent: 'ada' });
});
afterAll(async () => {
  await hub.close();
  await running.close();
});

type Output = ModelResponse['output'][number];
const said = (text: string): Output => ({
  ...{ type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text }],
});
const called = (callId: string, args: object): Output => ({
  ...{ type: 'function_call', callId, name: 'pay', status: 'completed' },
  arguments: JSON.stringify(args),
});

/** Answers as told, and remembers what it was asked. */
function scripted(...outputs: Output[][]): Model & { readonly asked: AgentInputItem[][] } {
  const asked: AgentInputItem[][] = [];
  return {
    asked,
    async getResponse({ input }: ModelRequest) {
      asked.push(structuredClone(typeof input === 'string' ? [] : input));
      return { usage: new Usage(), output: outputs.shift() ?? [said('nothing more')] };
    },
    // biome-ignore lint/correctness/useYield: nothing here is streamed.
    async *getStreamedResponse() {
      throw new Error('not streamed');
    },
  };
}

function payer(model: Model, paid: string[]): Agent {
  const pay = tool({
    ...{ name: 'pay', description: 'pays', parameters: z.object({ eur: z.number() }) },
    needsApproval: true,
    execute: async ({ eur }) => {
      paid.push(`${eur}`);
      return `paid ${eur}`;
    },
  });
  return new Agent({ name: 'payer', model, tools: [pay] });
}

async function open(key: string, from: Client = hub): Promise<SdkSession> {
  return openAiSession(await openSession(from, { key }));
}

test('[SN9] a run goes on from the history of the one before, in another process', async () => {
  const first = scripted([said('hello ada')]);
  await new Runner().run(new Agent({ name: 'a', model: first }), 'I am ada', {
    session: await open('chat'),
  });
  const other = await connect({ url: running.url, token: running.owner, agent: 'ada' });
  const second = scripted([said('ada')]);
  await new Runner().run(new Agent({ name: 'a', model: second }), 'who am I?', {
    session: await open('chat', other),
  });
  const texts = second.asked[0]?.map((item) => JSON.stringify(item));
  expect(texts).toHaveLength(3);
  expect(texts?.join()).toMatch(/I am ada.*hello ada.*who am I/);
  await other.close();
});

test('[SN4] [SN9] approvals in other processes: the tool runs once each, and the items are the same', async () => {
  const paid: string[] = [];
  const session = await openSession(hub, { key: 'approved' });
  const script = (): Output[][] => [
    [called('c1', { eur: 1 }), called('c2', { eur: 2 })],
    [called('c3', { eur: 3 })],
    [said('all paid')],
  ];
  const outputs = script();
  const model = scripted(...outputs);
  let result = await new Runner().run(payer(model, paid), 'pay', {
    session: openAiSession(session),
  });
  let rounds = 0;
  while (result.interruptions.length > 0) {
    rounds++;
    const text = result.state.toString();
    const before = JSON.stringify(await session.items());
    const other = await connect({ url: running.url, token: running.owner, agent: 'ada' });
    const again = await openSession(other, { key: 'approved' });
    expect(JSON.stringify(await again.items())).toBe(before);
    const agent = payer(model, paid);
    const state = await RunState.fromString(agent, text);
    for (const one of state.getInterruptions()) state.approve(one);
    result = await new Runner().run(agent, state as never, { session: openAiSession(again) });
    await other.close();
  }
  expect([rounds, paid.sort()]).toEqual([2, ['1', '2', '3']]);
  expect(result.finalOutput).toBe('all paid');
  const items = await session.items();
  const kinds = items.map((item) => `${item.kind}${'call_id' in item ? ` ${item.call_id}` : ''}`);
  expect(kinds.filter((kind) => kind.startsWith('tool_call'))).toEqual([
    ...['tool_call c1', 'tool_call c2', 'tool_call c3'],
  ]);
  expect((await session.view()).open_calls).toEqual([]);
});

test('[SN4] a call that was cut off is there with a result that says unknown and the key', async () => {
  const session = await openSession(hub, { key: 'torn' });
  const sdk: SdkSession = openAiSession(session);
  await sdk.addItems([
    { type: 'message', role: 'user', content: 'pay' },
    called('c9', { eur: 9 }) as AgentInputItem,
  ]);
  const [, , result] = await sdk.getItems();
  const { open_calls: open } = await session.view();
  expect(result).toMatchObject({
    type: 'function_call_result',
    callId: 'c9',
    status: 'incomplete',
  });
  expect(JSON.stringify(result)).toContain(open[0]?.key);
  const model = scripted([said('I asked')]);
  await new Runner().run(new Agent({ name: 'a', model }), 'and?', { session: sdk });
  expect(JSON.stringify(model.asked)).toContain('nobody knows what became of this call');
});

test('[SN5] the SDK gets back what it gave, takes items off one by one, and clears', async () => {
  const session = await openSession(hub, { key: 'pop' });
  const sdk: SdkSession = openAiSession(session);
  const given: AgentInputItem[] = [
    {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'hi' }],
      providerData: { a: 1 },
    },
    { type: 'reasoning', id: 'r1', content: [{ type: 'input_text', text: 'hm' }] },
    called('c1', { eur: 1 }) as AgentInputItem,
    {
      type: 'function_call_result',
      name: 'pay',
      callId: 'c1',
      status: 'completed',
      output: 'paid',
    },
    said('done') as AgentInputItem,
    {
      type: 'function_call_result',
      name: 'x',
      callId: 'lost',
      status: 'completed',
      output: 'alone',
    },
  ];
  await sdk.addItems(structuredClone(given));
  expect(JSON.stringify(await sdk.getItems())).toBe(JSON.stringify(given));
  expect(await sdk.getItems(2)).toEqual(given.slice(-2));
  const popped: unknown[] = [];
  for (let one = await sdk.popItem(); one !== undefined; one = await sdk.popItem())
    popped.push(one);
  expect(popped.reverse()).toEqual(given);
  await sdk.addItems(given.slice(0, 1));
  await sdk.clearSession();
  expect(await sdk.getItems()).toEqual([]);
  // Nothing was deleted: the cut tells what was there.
  const { last_cut: cut } = await session.view();
  const page = await hub.call('sessions.get', { session_id: session.id, cut: cut ?? 0 });
  expect(page.items).toHaveLength(1);
});
