/** The chat agent against a real HTTP server: streams, every way an endpoint fails, and cancel. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../e2e/deadline.ts';
import { type ChatServer, openChatServer } from './chat-server.ts';
import {
  killWorkers,
  type Message,
  soon,
  startWorker,
  type WorkerProcess,
} from './worker-process.ts';

let server: ChatServer;
let worker: WorkerProcess;
/** Waits for no word longer than a moment; the other one may be kept waiting by a busy machine. */
let hasty: WorkerProcess;
let count = 0;

beforeAll(async () => {
  server = await openChatServer();
  const env = {
    OPENAI_BASE_URL: server.url,
    OPENAI_API_KEY: 'sk-secret',
    OPENAI_MODEL: 'tiny',
    OPENAI_MAX_TOKENS: '99',
    OPENAI_TEMPERATURE: '0.5',
  };
  const args = ['openai', '--system-prompt', 'be brief'];
  worker = startWorker(args, { env });
  hasty = startWorker([...args, '--idle-timeout', '300ms'], { env });
});
afterAll(async () => {
  await killWorkers();
  await server.close();
});

async function request(method: string, params: object, from = worker): Promise<Message> {
  count += 1;
  from.send({ jsonrpc: '2.0', id: `r${count}`, method, params });
  return from.answer(`r${count}`);
}
async function newSession(from = worker): Promise<string> {
  return (await request('session/new', { cwd: '/', mcpServers: [] }, from)).result.sessionId;
}
const textBlocks = (text: string) => [{ type: 'text', text }];
const prompt = (sessionId: string, text: string, from = worker) =>
  request('session/prompt', { sessionId, prompt: textBlocks(text) }, from);
const said = (sessionId: string, from = worker): string =>
  from.heard
    .filter((one) => one.method === 'session/update' && one.params.sessionId === sessionId)
    .map((one) => one.params.update.content.text)
    .join('');

test('[WP15] the answer streams, with the key, the settings and the history of the session', async () => {
  const session = await newSession();
  expect((await prompt(session, 'hello there')).result).toEqual({ stopReason: 'end_turn' });
  expect(said(session)).toBe('you said hello there');
  const chunks = worker.heard.filter((one) => one.params?.sessionId === session);
  expect(chunks.length).toBeGreaterThan(2);
  await prompt(session, 'again');
  const { authorization, body } = server.asked.at(-1) as ChatServer['asked'][0];
  expect(authorization).toBe('Bearer sk-secret');
  expect(body).toMatchObject({ model: 'tiny', max_tokens: 99, temperature: 0.5, stream: true });
  expect(body.messages).toEqual([
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'hello there' },
    { role: 'assistant', content: 'you said hello there' },
    { role: 'user', content: 'again' },
  ]);
});

test('[WP15] a stream cut at every byte is read as it was written', async () => {
  const session = await newSession();
  expect((await prompt(session, 'trickle')).result.stopReason).toBe('end_turn');
  expect(said(session)).toBe('drops äöü🦊');
});

test('[WP15] a server that does not stream, a full answer and a filter are told apart', async () => {
  const session = await newSession();
  expect((await prompt(session, 'whole')).result.stopReason).toBe('end_turn');
  expect(said(session)).toBe('all at once');
  expect((await prompt(session, 'length')).result.stopReason).toBe('max_tokens');
  expect((await prompt(session, 'filter')).result.stopReason).toBe('refusal');
});

test('[WP15] an image goes along as a part', async () => {
  const sessionId = await newSession();
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
  const answer = await request('session/prompt', {
    ...{ sessionId, prompt: [...textBlocks('what is this'), image] },
  });
  expect(answer.result.stopReason).toBe('end_turn');
  expect(server.asked.at(-1)?.body.messages.at(-1)?.content).toEqual([
    { type: 'text', text: 'what is this' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ]);
});

test.each([
  ['401', { code: -32_000, data: { status: 401, retryable: false } }, 'no such key'],
  ['404', { code: -32_600, data: { status: 404, retryable: false } }, 'no such model'],
  ['429', { code: 9, data: { status: 429, retryAfterMs: 7_000, retryable: true } }, 'slow down'],
  ['500', { code: 8, data: { status: 500, retryable: true } }, 'oh no'],
  ['redirect', { code: 5 }, 'could not be read'],
  ['garbage', { code: 5, data: { retryable: false } }, 'not JSON'],
  ['silent', { code: 3, data: { retryable: true } }, 'was silent for 300 ms'],
])('[WP16] %s is an error, not text', async (word, error, message) => {
  const from = word === 'silent' ? hasty : worker;
  const session = await newSession(from);
  const answer = await prompt(session, word, from);
  expect(answer.error).toMatchObject(error);
  expect(answer.error.message).toContain(message);
  expect(JSON.stringify(answer)).not.toContain('sk-secret');
  expect(said(session, from)).toBe('');
});

test.each([
  ['cut', 5, 'half of '],
  ['end-early', 5, 'half of '],
  ['silent-later', 3, 'some'],
  ['error-inside', 8, 'well, '],
])('[WP16] %s after some text is an error too, and is not remembered', async (word, code, text) => {
  const from = word === 'silent-later' ? hasty : worker;
  const session = await newSession(from);
  const answer = await prompt(session, word, from);
  expect(answer.error.code).toBe(code);
  expect(said(session, from)).toBe(text);
  await prompt(session, 'next', from);
  expect(server.asked.at(-1)?.body.messages).toHaveLength(2);
});

test.each([['endless'], ['silent-later']])(
  '[WP17] cancel hangs up on %s and ends the turn',
  async (word) => {
    // With the patience of a minute: nothing but the cancel can end it in time.
    const patient = startWorker(['openai'], { env: { OPENAI_BASE_URL: server.url } });
    const sessionId = await newSession(patient);
    const text = `${word} until cancelled`;
    const params = { sessionId, prompt: textBlocks(text) };
    patient.send({ jsonrpc: '2.0', id: 'p', method: 'session/prompt', params });
    await patient.until('it streams', (one) => one.params?.sessionId === sessionId);
    patient.send({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } });
    expect((await patient.answer('p')).result).toEqual({ stopReason: 'cancelled' });
    const hasHungUp = () => soon(() => server.hungUp.includes(text));
    await until('the server sees it', hasHungUp, (isSo) => isSo);
  },
);

test('[WP15] a worker without the key its endpoint will ask for says so at the start', async () => {
  const mute = startWorker(['openai', '--base-url', 'https://models.example/v1']);
  await mute.noted(/OPENAI_API_KEY is not set: models\.example will be asked without a key/);
  mute.child.stdin.end();
  expect(await mute.exited()).toBe(0);
});

test('[WP16] nobody at the address, and an address that is none', async () => {
  const lost = startWorker(['openai', '--base-url', 'http://127.0.0.1:1/v1']);
  const sessionId = await newSession(lost);
  const params = { sessionId, prompt: textBlocks('hello') };
  const answer = await request('session/prompt', params, lost);
  expect(answer.error).toMatchObject({ code: 5, data: { retryable: true } });
  expect(answer.error.message).toContain('127.0.0.1:1');
  const wrong = startWorker(['openai', '--base-url', 'nowhere']);
  expect(await wrong.exited()).toBe(78);
  expect(wrong.stderr()).toContain('OPENAI_BASE_URL is no http(s) URL');
});
