/** Rules without a network, and tiers in front of real endpoints that fail. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChatServer, openChatServer } from './chat-server.ts';
import { killWorkers, type Message, startWorker, type WorkerProcess } from './worker-process.ts';

const dir = mkdtempSync(join(tmpdir(), 'synod-tiers-'));
let server: ChatServer;
beforeAll(async () => {
  server = await openChatServer();
});
afterAll(async () => {
  await killWorkers();
  await server.close();
  rmSync(dir, { recursive: true });
});

function file(name: string, value: unknown): string {
  const path = join(dir, name);
  writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value));
  return path;
}

interface Asked {
  readonly answer: Message;
  readonly said: string;
  readonly thoughts: readonly string[];
}

async function ask(worker: WorkerProcess, text: string, taskClass?: string): Promise<Asked> {
  const id = `q${worker.heard.length}`;
  worker.send({
    jsonrpc: '2.0',
    id: `n${id}`,
    method: 'session/new',
    params: { cwd: '/', mcpServers: [] },
  });
  const { sessionId } = (await worker.answer(`n${id}`)).result;
  const params = {
    ...{ sessionId, prompt: [{ type: 'text', text }] },
    ...(taskClass !== undefined && { _meta: { taskClass } }),
  };
  worker.send({ jsonrpc: '2.0', id, method: 'session/prompt', params });
  const answer = await worker.answer(id);
  const updates = worker.heard.flatMap((one) =>
    one.params?.sessionId === sessionId ? [one.params.update] : [],
  );
  const texts = (kind: string): string[] =>
    updates.flatMap((one) => (one.sessionUpdate === kind ? [one.content.text] : []));
  return {
    answer,
    said: texts('agent_message_chunk').join(''),
    thoughts: texts('agent_thought_chunk'),
  };
}

test('[WP18] the first rule that matches answers; flags come before the file', async () => {
  const path = file('rules.json', {
    rules: [
      { pattern: '^hello (?<who>\\w+)', flags: 'i', answer: 'hello to $<who>' },
      { pattern: 'price of (\\w+)', answer: '$1 costs $$5' },
      { pattern: 'hello', answer: 'never reached by a greeting' },
    ],
    otherwise: 'ask me something else',
  });
  const worker = startWorker(['rule', '--rules', path, '--rule', '^ping$ => pong']);
  expect((await ask(worker, 'Hello World, how are you')).said).toBe('hello to World');
  expect((await ask(worker, 'tell me the price of tea please')).said).toBe('tea costs $5');
  expect((await ask(worker, 'ping')).said).toBe('pong');
  expect((await ask(worker, 'what?')).said).toBe('ask me something else');
});

test('[WP18] what no rule matches is refused, and a bad file is named by its field', async () => {
  const worker = startWorker(['rule', '--rule', 'a=>b']);
  const { answer, said } = await ask(worker, 'zzz');
  expect(answer.error).toMatchObject({
    code: 10,
    message: expect.stringContaining('no rule matches'),
  });
  expect(said).toBe('');
  const bad = file('bad.json', { rules: [{ pattern: '(', answer: 'x' }] });
  const refused = startWorker(['rule', '--rules', bad]);
  expect(await refused.exited()).toBe(78);
  expect(refused.stderr()).toContain('rules[0]');
  expect(await startWorker(['rule', '--rules', join(dir, 'none.json')]).exited()).toBe(78);
  expect(await startWorker(['rule']).exited()).toBe(2);
});

function tiersFile(name: string, change: object = {}): string {
  return file(name, {
    tiers: {
      small: { model: 'small', baseUrl: server.url, apiKeyEnv: 'SMALL_KEY' },
      large: { model: 'large', baseUrl: server.url, apiKeyEnv: 'LARGE_KEY' },
      rule: { rules: [{ pattern: '^ping$', answer: 'pong' }] },
    },
    classes: { chat: 'small', code: 'large', ping: 'rule' },
    routes: [
      { longerThan: 500, tier: 'large' },
      { keyword: 'Refactor', tier: 'large' },
      { pattern: '^ping$', tier: 'rule' },
    ],
    default: 'small',
    ...change,
  });
}

test('[WP19] the task class chooses the tier, then length, keyword and pattern, then the default', async () => {
  const env = { SMALL_KEY: 'ks', LARGE_KEY: 'kl', OPENAI_API_KEY: 'never' };
  const worker = startWorker(['tiered', '--config', tiersFile('tiers.json')], { env });
  const chosen = async (text: string, taskClass?: string) => {
    const { _meta } = (await ask(worker, text, taskClass)).answer.result;
    return [_meta['synod/tier'], _meta['synod/why']];
  };
  expect(await chosen('hi', 'code')).toEqual(['large', 'task class code']);
  expect(server.asked.at(-1)).toMatchObject({
    authorization: 'Bearer kl',
    body: { model: 'large' },
  });
  expect(await chosen('hi')).toEqual(['small', 'the default']);
  expect(server.asked.at(-1)).toMatchObject({
    authorization: 'Bearer ks',
    body: { model: 'small' },
  });
  expect((await chosen('x'.repeat(501)))[0]).toBe('large');
  expect((await chosen('please refactor it'))[0]).toBe('large');
  expect(await chosen('ping')).toEqual(['rule', expect.stringContaining('matches')]);
  const [tier, why] = await chosen('hi', 'poetry');
  expect([tier, why]).toEqual(['small', expect.stringContaining('poetry is not in the config')]);
});

test('[WP20] a tier that fails before a word hands over, and says why; after a word it does not', async () => {
  const fallback = { small: ['large', 'rule'], rule: ['small'] };
  const env = { OPENAI_API_KEY: 'for another host' };
  const worker = startWorker(['tiered', '--config', tiersFile('fall.json', { fallback })], { env });
  const up = await ask(worker, 'and no rule for this', 'ping');
  expect(up.said).toBe('you said and no rule for this');
  expect(server.asked.at(-1)?.authorization).toBeUndefined();
  expect(up.thoughts[0]).toContain('rule could not answer (no rule matches');
  expect(up.thoughts[0]).toContain('small answers instead');
  expect(up.answer.result._meta).toMatchObject({
    'synod/tier': 'small',
    'synod/fallbacks': [{ tier: 'rule' }],
  });
  const none = await ask(worker, '500 always');
  expect(none.answer.error.code).toBe(8);
  expect(none.answer.error.data.fallbacks.map((one: Message) => one.tier)).toEqual([
    'small',
    'large',
    'rule',
  ]);
  expect(none.thoughts).toHaveLength(2);
  const cut = await ask(worker, 'cut');
  expect(cut.answer.error).toMatchObject({ code: 5, data: { tier: 'small', fallbacks: [] } });
  expect(cut.said).toBe('half of ');
  expect(cut.thoughts).toEqual([]);
});

test.each([
  ['no tiers', { tiers: {} }, 'at least one tier'],
  ['an unknown tier', { default: 'huge' }, 'default must be one of small, large, rule'],
  ['a route without a reason', { routes: [{ tier: 'small' }] }, 'routes[0]'],
  ['a fallback to nobody', { fallback: { small: ['x'] } }, 'fallback.small[0]'],
])('[WP19] %s is named by its field', async (_, change, message) => {
  const worker = startWorker(['tiered', '--config', tiersFile('bad-tiers.json', change)]);
  expect(await worker.exited()).toBe(78);
  expect(worker.stderr()).toContain(message);
});
