/** Workers of the box as agents of a hub: real processes that answer on its channels. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../e2e/deadline.ts';
import { openRunningHub, type RunningHub } from '../../e2e/running-hub.ts';
import { type ChatServer, openChatServer } from './chat-server.ts';
import { killWorkers, startWorker, type WorkerProcess } from './worker-process.ts';

let hub: RunningHub;
let model: ChatServer;
beforeAll(async () => {
  [hub, model] = await Promise.all([openRunningHub(), openChatServer()]);
  for (const channel of ['room', 'other']) await hub.ask('ada', 'subscribe', { pattern: channel });
});
afterAll(async () => {
  await killWorkers();
  await Promise.all([hub.close(), model.close()]);
});

interface Said {
  readonly sender: string;
  readonly body: { readonly text: string };
  readonly reply_to: string | null;
  readonly correlation_id: string | null;
}

/** What ada, who hears the channels, was answered to this message. */
async function answerTo(id: string): Promise<Said> {
  const heard: Said[] = [];
  await until(
    `an answer to ${id}`,
    async () => {
      const { messages } = await hub.ask('ada', 'recv', { wait_ms: 1_000 });
      heard.push(...messages);
      return heard;
    },
    (all) => all.some(({ reply_to }) => reply_to === id),
  );
  return heard.find(({ reply_to }) => reply_to === id) as Said;
}

async function send(channel: string, text: string): Promise<string> {
  return (await hub.ask('ada', 'send', { channel, body: { text } })).message_id;
}

async function start(name: string, args: readonly string[]): Promise<WorkerProcess> {
  const hubFlags = ['--url', hub.url, '--token', hub.owner, '--as', name];
  const worker = startWorker([...args, ...hubFlags], { env: { OPENAI_API_KEY: 'a-key' } });
  await worker.noted(/answers on /);
  return worker;
}

test('[WP37] rules answer on the channel, once, and go on after they were killed', async () => {
  const args = ['rule', '--on', 'room', '--rule', 'ping => pong', '--every', '1ms'];
  const first = await start('ruler', args);
  const asked = await send('room', 'ruler: ping');
  expect(await answerTo(asked)).toMatchObject({
    ...{ sender: 'ruler', body: { text: 'pong' }, correlation_id: 'worker:ruler' },
  });
  const unknown = await send('room', 'ruler: what?');
  await until(
    'the receipt says why there is no answer',
    async () => (await hub.ask('ada', 'receipts_get', { message_id: unknown })).receipts,
    (all) => JSON.stringify(all).includes('no rule matches'),
  );
  first.child.kill('SIGKILL');
  await first.exited();
  const meanwhile = await send('room', 'ruler: ping again');
  const second = await start('ruler', args);
  expect((await answerTo(meanwhile)).body.text).toBe('pong');
  const card = await hub.ask('ada', 'cards_manifest');
  expect(JSON.stringify(card)).toContain('answers, by rule');
  second.child.kill('SIGTERM');
  expect(await second.exited()).toBe(0);
});

test('[WP37] an endpoint is shown the channel and answers there, as openai, ollama and tiers', async () => {
  const config = join(hub.dir, 'tiers.json');
  const tiers = {
    small: { rules: [{ pattern: 'ping', answer: 'pong' }] },
    large: { model: 'big', baseUrl: model.url },
  };
  const routes = [{ longerThan: 20, tier: 'large' }];
  writeFileSync(config, JSON.stringify({ tiers, routes, default: 'small' }));
  const workers = await Promise.all([
    start('gpt', ['openai', '--on', 'other', '--base-url', model.url]),
    start('lama', ['ollama', '--on', 'other', '--base-url', model.url, '--model', 'tiny']),
    start('both', ['tiered', '--on', 'other', '--config', config]),
  ]);
  await send('other', 'the sky is blue');
  const asked = await send('other', 'what colour, @gpt');
  expect(await answerTo(asked)).toMatchObject({ sender: 'gpt' });
  const { authorization, body } = model.asked.at(-1) ?? { body: { messages: [] } };
  expect(authorization).toBe('Bearer a-key');
  expect(body.messages).toMatchObject([
    { role: 'system', content: expect.stringContaining('on a channel') },
    { role: 'user', content: 'ada: the sky is blue' },
    { role: 'user', content: 'what colour, @gpt' },
  ]);
  const local = await send('other', 'and you, lama');
  expect((await answerTo(local)).sender).toBe('lama');
  expect(model.asked.at(-1)).toMatchObject({ authorization: undefined, body: { model: 'tiny' } });
  const small = await send('other', 'both: ping');
  expect((await answerTo(small)).body.text).toBe('pong');
  const large = await send('other', 'both: something longer than twenty');
  expect((await answerTo(large)).sender).toBe('both');
  expect(model.asked.at(-1)).toMatchObject({ body: { model: 'big' } });
  for (const { child } of workers) child.kill('SIGTERM');
});

test('[WP37] flags that make no sense are refused before anything is joined', async () => {
  const worker = startWorker(['rule', '--otherwise', 'x', '--on', 'room', '--answer', 'some']);
  expect(await worker.exited()).not.toBe(0);
  expect(worker.stderr()).toContain('--answer is named or all');
});
