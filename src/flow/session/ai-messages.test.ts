/** The Vercel AI SDK on a session of the hub, with its own loop and its own scripted model. */
import { convertToModelMessages, generateText, type ModelMessage, stepCountIs, tool } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { type Client, connect } from '../../client/client.ts';
import { aiMessages } from './ai-messages.ts';
import { openAiSession } from './openai-session.ts';
import { openSession } from './session.ts';

let running: RunningHub;
let hub: Client;
beforeAll(async () => {
  running = await openRunningHub();
  hub = await connect({ url: running.url, token: running.owner, agent: 'ada' });
});
afterAll(async () => {
  await hub.close();
  await running.close();
});

type Generated = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>;
const NO_USAGE = { inputTokens: {}, outputTokens: {} } as Generated['usage'];

function scripted(...contents: Generated['content'][]): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: async () => {
      const content = contents.shift() ?? [];
      const isCall = content.some(({ type }) => type === 'tool-call');
      const unified = isCall ? 'tool-calls' : 'stop';
      return { content, finishReason: { unified, raw: unified }, usage: NO_USAGE, warnings: [] };
    },
  });
}

const add = tool({
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b,
});

test('[SN9] what a loop of tools said is read back as it was said, and goes to the model again', async () => {
  const history = aiMessages<ModelMessage>(await openSession(hub, { key: 'sums' }));
  await history.append([{ role: 'user', content: 'add 1 and 2' }]);
  const model = scripted(
    [
      { type: 'text', text: 'I add' },
      { type: 'tool-call', toolCallId: 'c1', toolName: 'add', input: '{"a":1,"b":2}' },
      { type: 'tool-call', toolCallId: 'c2', toolName: 'add', input: '{"a":3,"b":4}' },
    ],
    [{ type: 'text', text: 'it is 3' }],
  );
  const messages = await history.messages();
  const { response } = await generateText({
    ...{ model, messages, tools: { add }, stopWhen: stepCountIs(3) },
  });
  await history.append(response.messages);
  const other = await connect({ url: running.url, token: running.owner, agent: 'ada' });
  const session = await openSession(other, { key: 'sums' });
  const read = await aiMessages<ModelMessage>(session).messages();
  expect(read).toEqual([...messages, ...JSON.parse(JSON.stringify(response.messages))]);
  expect((await session.items()).map(({ kind }) => kind)).toEqual([
    ...['user', 'assistant', 'tool_call', 'tool_call', 'tool_result', 'tool_result', 'assistant'],
  ]);
  const next = scripted([{ type: 'text', text: 'again 3' }]);
  const again: ModelMessage[] = [...read, { role: 'user', content: 'again?' }];
  expect((await generateText({ model: next, messages: again })).text).toBe('again 3');
  expect(next.doGenerateCalls[0]?.prompt).toHaveLength(again.length);
  await other.close();
});

test('[SN4] a call that was cut off reads as one that nobody knows the end of', async () => {
  const session = await openSession(hub, { key: 'torn' });
  await session.append([
    { kind: 'user', content: 'pay' },
    { kind: 'tool_call', call_id: 'c1', name: 'pay', arguments: { eur: 5 }, key: 'order-7' },
  ]);
  const messages = await aiMessages<ModelMessage>(session).messages();
  expect(messages.at(-1)).toMatchObject({
    role: 'tool',
    content: [{ toolCallId: 'c1', toolName: 'pay', output: { type: 'error-text' } }],
  });
  expect(JSON.stringify(messages.at(-1))).toContain('order-7');
  const model = scripted([{ type: 'text', text: 'I ask' }]);
  expect((await generateText({ model, messages })).text).toBe('I ask');
});

test('messages of a page are turned into those of a model first, and nothing is appended till then', async () => {
  const session = await openSession(hub, { key: 'page' });
  const shown = { id: '1', role: 'user' as const, parts: [{ type: 'text' as const, text: 'hi' }] };
  const history = aiMessages<object>(session);
  expect(() => history.append([shown])).toThrow('convertToModelMessages');
  await history.append(await convertToModelMessages([shown]));
  expect(await session.items()).toMatchObject([{ kind: 'user', content: [{ text: 'hi' }] }]);
});

test('one history, two makers: each reads what the other appended', async () => {
  const session = await openSession(hub, { key: 'both' });
  const history = aiMessages<ModelMessage>(session);
  await history.append([
    { role: 'system', content: 'be short' },
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    { role: 'assistant', content: 'hi', providerOptions: { x: { y: 1 } } },
  ]);
  const sdk = openAiSession<{ role?: string }>(session);
  expect(await sdk.getItems()).toMatchObject([
    { role: 'system', content: 'be short' },
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] },
  ]);
  await sdk.addItems([{ role: 'user', type: 'message', content: 'and you?' } as never]);
  expect((await history.messages()).slice(-2)).toEqual([
    { role: 'assistant', content: 'hi', providerOptions: { x: { y: 1 } } },
    { role: 'user', content: 'and you?' },
  ]);
});
