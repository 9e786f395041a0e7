/**
 * Goal: a model answers a turn; its key is told to nobody, and why it would not answer is told apart.
 * Method: an endpoint on loopback that plays each part.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { createJob } from './job.fixture.ts';
import { createModelRunner } from './model.ts';
import { runnerContract } from './runner.contract.ts';

const KEY = 'sk-of-the-model';
const dir = mkdtempSync(join(tmpdir(), 'synod-model-'));
const file = join(dir, 'key');
writeFileSync(file, `${KEY}\n`, { mode: 0o600 });
const asked: { body: Record<string, unknown>; authorization: string | undefined }[] = [];

/** The name of the model says what it does. */
async function play(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += chunk;
  const body = JSON.parse(text);
  asked.push({ body, authorization: request.headers.authorization });
  const say = (event: unknown): void => void response.write(`data: ${JSON.stringify(event)}\n\n`);
  switch (body.model) {
    case 'good':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const content of ['It is\n', 'noon.']) say({ choices: [{ delta: { content } }] });
      say({ choices: [{ delta: {}, finish_reason: 'stop' }] });
      say({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 3 } });
      response.end('data: [DONE]\n\n');
      return;
    case 'silent':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"choices":[{"message":{"content":"  "},"finish_reason":"stop"}]}');
      return;
    case 'hanging':
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      return;
    default:
      response.writeHead(Number(body.model), { 'retry-after': '30' });
      response.end(JSON.stringify({ error: { message: `no, not with ${KEY}` } }));
  }
}

const server = createServer((request, response) => void play(request, response));
let base_url = '';
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const spec = (model: string): SpecOf<'model'> => ({
  ...{ kind: 'model', base_url, model, secret: { file }, system_prompt: 'You tell the time.' },
});
const runner = createModelRunner({});

runnerContract<SpecOf<'model'>>({
  name: 'model',
  open: async () => ({
    runner,
    good: spec('good'),
    unusable: {
      spec: { ...spec('good'), secret: { file: join(dir, 'none') } },
      code: 'runner.unusable',
    },
    failing: spec('500'),
    hanging: spec('hanging'),
    close: async () => {},
  }),
});

describe('a model', () => {
  test('[RU14] is shown the messages as data, and what it says answers the last of them', async () => {
    const { job, said } = createJob(dir, spec('good'));
    asked.length = 0;
    expect(await runner.run(job)).toEqual({
      ...{ outcome: 'done', consumed: 'all', cost: { tokens_in: 12, tokens_out: 3 } },
      replies: [{ reply_to: 'm-2', body: { text: 'It is\nnoon.' } }],
    });
    expect(said).toEqual(['It is', 'noon.']);
    const [{ body, authorization } = { body: {}, authorization: '' }] = asked;
    expect(authorization).toBe(`Bearer ${KEY}`);
    const [system, user] = body.messages as { content: string }[];
    expect(system?.content).toBe('You tell the time.');
    expect(user?.content).toContain('\n| what is the time?');
  });

  test('[RU14] that says nothing has done nothing', async () => {
    const { job } = createJob(dir, spec('silent'));
    expect(await runner.run(job)).toEqual({ outcome: 'nothing', consumed: 'all' });
  });

  test.each([
    ['429', 'exhausted'],
    ['503', 'overloaded'],
    ['529', 'overloaded'],
    ['401', undefined],
  ])('[RU14] that answers %s is %s, and its key is not told', async (status, kind) => {
    const hidden: string[] = [];
    const { job } = createJob(dir, spec(status));
    const result = await runner.run({
      ...job,
      transcript: { ...job.transcript, hide: (secret) => void hidden.push(secret) },
    });
    expect(result.outcome).toBe('failed');
    expect(result.quota?.kind).toBe(kind);
    if (kind !== undefined) expect(result.quota?.until).toBeGreaterThan(Date.now() + 10_000);
    expect(result.note).not.toContain(KEY);
    expect(hidden).toEqual([KEY]);
  });
});
