/**
 * One trace, from a person's message over the hub and a turn to a worker in a process of its own, and on
 * to the agent that the answer wakes: read back from a collector. The person's program is OpenTelemetry's
 * own, so both ends of the wire are judged by another implementation.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTelemetry, openFlow, otlpSink, workflow } from '../../src/flow/index.ts';
import { openHome } from './cli-run.ts';
import { until, within } from './deadline.ts';
import { openEventStream } from './event-stream.ts';
import { type OtlpReceiver, openOtlpReceiver } from './otlp-receiver.ts';
import { openRpcSocket } from './rpc-socket.ts';
import { fetchReply, type Json, openRunningHub, type RunningHub } from './running-hub.ts';

const GUIDE = new URL('../../docs/guide/telemetry.md', import.meta.url);
const SECRET = 'the recipe of the sauce';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${TRACE}-00f067aa0ba902b7-01`;

let base = '';
let receiver: OtlpReceiver;
let hub: RunningHub;
let silent: RunningHub;

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'synod-trace-')));
  receiver = await openOtlpReceiver();
  const worker = fileURLToPath(new URL('traced-worker.ts', import.meta.url));
  const bus = join(base, 'bus.json');
  const env = { COLLECTOR: receiver.endpoint };
  const pool = { id: 'library', command: process.execPath, args: [worker], instances: 1, env };
  writeFileSync(bus, JSON.stringify({ pools: [pool] }));
  hub = await openRunningHub({
    dir: join(base, 'hub'),
    flags: { otlp: receiver.endpoint, bus },
    hooks: { env: { PATH: process.env.PATH } },
  });
  silent = await openRunningHub({ dir: join(base, 'silent') });
});
afterAll(async () => {
  await Promise.all([hub.close(), silent.close()]);
  await receiver.close();
  rmSync(base, { recursive: true, force: true });
});

async function manage(agent: string, channel: string, runner: object): Promise<void> {
  await hub.ask(agent, 'subscribe', { pattern: channel });
  await hub.admin('agents_manage', { agent_id: agent, runner });
}

test('[TL10][TL7] one trace goes from a person’s message over a turn to a worker, and on with the answer', async () => {
  const person = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${receiver.endpoint}/v1/traces` })),
    ],
  });
  await manage('ada', 'team/questions', { kind: 'pool', pool: 'library', method: 'work' });
  const echo = [{ pattern: '^of ', answer: 'noted' }];
  await manage('eve', 'team/answers', { kind: 'rule', rules: echo });
  const asked = person.getTracer('desk').startSpan('ask the team');
  const { traceId, spanId } = asked.spanContext();
  const body = { text: `ada: what is ${SECRET}?` };
  const sent = await hub.post(
    'send',
    { channel: 'team/questions', body },
    { ...hub.as('bob'), traceparent: `00-${traceId}-${spanId}-01` },
  );
  expect(sent.status).toBe(200);
  asked.end();
  await person.forceFlush();
  await person.shutdown();

  const eve = await receiver.span('the turn of eve', ({ name }) => name === 'invoke_agent eve');
  const ours = receiver.spans.filter((one) => one.traceId === traceId);
  const named = (name: string): Json => ours.find((one) => one.name === name) ?? { name: 'none' };
  const under = (span: Json): Json => ours.find((one) => one.spanId === span.parentSpanId) ?? {};
  const work = named('look it up');
  expect(work).toMatchObject({ service: 'worker', attributes: { 'given.messages': 1 } });
  const call = under(work);
  expect(call).toMatchObject({ service: 'synod', name: 'library work', kind: 3 });
  const turn = under(call);
  expect(turn).toMatchObject({
    name: 'invoke_agent ada',
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'synod',
      'gen_ai.agent.name': 'ada',
      'gen_ai.usage.input_tokens': 7,
      'gen_ai.usage.output_tokens': 3,
      'synod.agent': 'ada',
      'synod.space': 'default',
      'synod.outcome': 'done',
    },
  });
  const send = under(turn);
  expect(send).toMatchObject({
    ...{ name: 'channels.send', kind: 2, parentSpanId: spanId },
    attributes: { 'synod.agent': 'bob', 'rpc.method': 'channels.send' },
  });
  expect(named('ask the team')).toMatchObject({
    spanId,
    service: expect.not.stringMatching('synod'),
  });
  // And on: the answer of ada was sent in her turn, and began the turn of eve.
  const answer = under(eve);
  expect(answer).toMatchObject({ name: 'channels.send', parentSpanId: turn.spanId });
  expect(answer.attributes).toMatchObject({
    'synod.agent': 'ada',
    'synod.turn': expect.any(String),
  });

  const { turns } = await hub.admin('turns_list', { agent_id: 'ada' });
  expect(turns[0].traceparent).toBe(`00-${traceId}-${turn.spanId}-01`);
  const { messages } = await hub.ask('eve', 'replay', { channel: 'team/answers' });
  expect(messages[0]).toMatchObject({
    ...{ sender: 'ada', traceparent: `00-${traceId}-${answer.spanId}-01` },
    body: { text: `of ${turns[0].traceparent}` },
  });
});

test('[TL6][TL11] no body of a message, turn or answer has left', () => {
  expect(receiver.spans.length).toBeGreaterThan(4);
  for (const body of [SECRET, 'what is', 'noted']) expect(receiver.text()).not.toContain(body);
});

test('[TL7] a call of a model is told in the words of the conventions, and its bodies are not', async () => {
  const endpoint = createServer((request, response) => {
    request.resume();
    const say = (piece: object): string => `data: ${JSON.stringify(piece)}\n\n`;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(say({ choices: [{ delta: { content: SECRET }, finish_reason: 'stop' }] }));
    response.write(say({ choices: [], usage: { prompt_tokens: 11, completion_tokens: 5 } }));
    response.end('data: [DONE]\n\n');
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const { port } = endpoint.address() as AddressInfo;
  const base_url = `http://127.0.0.1:${port}/v1`;
  await manage('max', 'team/models', { kind: 'model', base_url, model: 'small-1', max_tokens: 64 });
  await hub.ask('bob', 'send', { channel: 'team/models', body: { text: `max: ${SECRET}` } });
  const chat = await receiver.span('a chat', ({ name }) => name === 'chat small-1');
  endpoint.close();
  expect(chat).toMatchObject({
    kind: 3,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'small-1',
      'gen_ai.request.max_tokens': 64,
      'gen_ai.usage.input_tokens': 11,
      'gen_ai.usage.output_tokens': 5,
      'server.address': '127.0.0.1',
      'server.port': port,
    },
  });
  const turn = await receiver.span('its turn', ({ spanId }) => spanId === chat.parentSpanId);
  expect(turn.name).toBe('invoke_agent max');
  expect(receiver.text()).not.toContain(SECRET);
});

/** The trace of the last message of a channel, as everybody who reads it is told. */
async function told(channel: string): Promise<string | undefined> {
  await silent.ask('bob', 'subscribe', { pattern: channel });
  const { messages } = await silent.ask('bob', 'replay', { channel });
  return messages.at(-1)?.traceparent;
}

test('[TL10] every door takes a traceparent, the hub stores it, and every way of reading shows it', async () => {
  const stream = await openEventStream(silent.url, silent.as('reader'), '?channels=*');
  const send = { channel: 'doors', body: { n: 1 } };
  await silent.post('send', send, { ...silent.as('bob'), traceparent });
  expect(await told('doors')).toBe(traceparent);

  const socket = await openRpcSocket(silent.url, silent.as('bob'));
  const _meta = { traceparent: traceparent.replace('00f0', '11f0') };
  socket.ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'send', params: send, _meta }));
  await until(
    'the frame was carried out',
    () => told('doors'),
    (one) => one === _meta.traceparent,
  );
  await socket.close();

  const tool = (meta: object | undefined, headers: object): Promise<Json> =>
    fetchReply(`${silent.url}/mcp`, {
      method: 'POST',
      headers: {
        ...silent.as('bob'),
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...headers,
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'channels__send', arguments: send, ...(meta && { _meta: meta }) },
      }),
    });
  const inMeta = traceparent.replace('00f0', '22f0');
  expect((await tool({ traceparent: inMeta }, { traceparent })).status).toBe(200);
  expect(await told('doors')).toBe(inMeta);
  await tool(undefined, { traceparent });
  expect(await told('doors')).toBe(traceparent);

  const pushed = (await stream.next('message')).body as Json;
  expect(pushed).toMatchObject({ channel: 'doors', traceparent });
  await stream.close();
  await silent.ask('late', 'subscribe', { pattern: 'doors' });
  await silent.post('send', send, { ...silent.as('bob'), traceparent });
  const { messages } = await silent.ask('late', 'recv', { include_meta: true });
  expect(messages[0]._meta.traceparent).toBe(traceparent);
});

test('[TL8] what is no traceparent is none at every door, and nobody is refused for it', async () => {
  for (const bad of [
    '',
    'x'.repeat(60),
    `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
    `${traceparent}-x`,
  ]) {
    const send = { channel: 'bad', body: { n: 1 } };
    const { status } = await silent.post('send', send, { ...silent.as('bob'), traceparent: bad });
    expect(status, bad).toBe(200);
    expect(await told('bad'), bad).toBeUndefined();
  }
});

test('[TL10] a program of a turn finds its trace in its environment, and what it says is in it', async () => {
  const reply = `{"outcome":"done","replies":[{"body":{"text":"'$TRACEPARENT'"}}]}`;
  const runner = { kind: 'command', command: ['/bin/sh', '-c', `cat >/dev/null; echo '${reply}'`] };
  await silent.ask('cmd', 'subscribe', { pattern: 'programs' });
  await silent.admin('agents_manage', { agent_id: 'cmd', runner });
  const send = { channel: 'programs', body: { text: 'cmd: go' } };
  await silent.post('send', send, { ...silent.as('bob'), traceparent });
  await silent.ask('bob', 'subscribe', { pattern: 'programs' });
  const said = await until(
    'the answer of cmd',
    async () => (await silent.ask('bob', 'replay', { channel: 'programs' })).messages.at(-1),
    ({ sender }) => sender === 'cmd',
  );
  // Nobody is told by this hub, and the trace goes on all the same.
  expect(said).toMatchObject({ body: { text: traceparent }, traceparent });
});

test('[TL6][TL11] bodies leave where they were asked for, and a file has the same as a collector', async () => {
  const endpoint = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ message: { content: 'as much as you like' } }] }));
  });
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const file = join(base, 'told.jsonl');
  const open = await openRunningHub({
    ...{ dir: join(base, 'open'), flags: { telemetryFile: file } },
    file: { telemetry_content: true },
  });
  const base_url = `http://127.0.0.1:${(endpoint.address() as AddressInfo).port}/v1`;
  await open.ask('max', 'subscribe', { pattern: 'models' });
  await open.ask('bob', 'subscribe', { pattern: 'models' });
  const runner = { kind: 'model', base_url, model: 'm' };
  await open.admin('agents_manage', { agent_id: 'max', runner });
  await open.ask('bob', 'send', { channel: 'models', body: { text: 'max: how much salt?' } });
  const isAnswer = ({ sender }: Json): boolean => sender === 'max';
  await until(
    'the answer of max',
    async () => (await open.ask('bob', 'replay', { channel: 'models' })).messages,
    (messages) => messages.some(isAnswer),
  );
  await open.close();
  endpoint.close();
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const records = lines.map((line): Json => JSON.parse(line));
  const chat = records.find(({ name }) => name === 'chat m');
  expect(chat.attributes['gen_ai.input.messages']).toContain('how much salt?');
  expect(chat.attributes['gen_ai.output.messages']).toContain('as much as you like');
  expect(records.find(({ name }) => name === 'invoke_agent max').span).toBe(chat.parent);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test('[TL1] the program of the guide runs, and the collector hears of it', () => {
  const [, program = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(GUIDE, 'utf8')) ?? [];
  const path = join(base, 'program.ts');
  const flow = fileURLToPath(new URL('../../src/flow/index.ts', import.meta.url));
  const local = program.replace(`'synod/flow'`, `'${flow}'`);
  writeFileSync(path, local.replace('http://127.0.0.1:4318', receiver.endpoint));
  const child = spawn(process.execPath, [path], { stdio: ['ignore', 'ignore', 'inherit'] });
  return Promise.all([
    within('the program ends', once(child, 'exit')).then(([code]) => expect(code).toBe(0)),
    receiver
      .span('the span of the guide', ({ name }) => name === 'build')
      .then(({ attributes }) => {
        expect(attributes).toMatchObject({ branch: 'main', files: 3, 'synod.agent': 'ada' });
      }),
  ]);
});

test('[TL10] one trace goes from a person’s message over a turn to a run, its steps and a worker', async () => {
  const telemetry = createTelemetry({
    sinks: [otlpSink({ endpoint: receiver.endpoint, resource: { 'service.name': 'flow' } })],
  });
  const look = workflow('look', async (ctx) => {
    const note = await ctx.step('note', () => 'noted');
    return { note, answer: (await ctx.turn('ann', { text: 'ann: what is it?' })).body.text };
  });
  const flow = await telemetry.within({}, () =>
    openFlow({ url: hub.url, token: hub.owner, agent: 'flow', workflows: [look] }),
  );
  await manage('ann', 'team/none', { kind: 'pool', pool: 'library', method: 'work' });
  const calls = [{ operation: 'workflows.start', input: { name: 'look', id: 'look-1' } }];
  const rules = [{ pattern: 'look', answer: 'I had it looked up', calls }];
  await manage('lead', 'team/lead', { kind: 'rule', rules });
  const send = { channel: 'team/lead', body: { text: 'lead: look it up' } };
  await hub.post('send', send, { ...hub.as('bob'), traceparent });
  await until(
    'the run is there',
    () => hub.post('workflows_get', { id: 'look-1' }, hub.as('flow')),
    ({ status }) => status === 200,
  );
  const { answer } = (await flow.run('look-1').result({ timeoutMs: 20_000 })) as Json;
  expect(answer).toContain(TRACE);
  await flow.close();
  await telemetry.close();
  const whole = (one: Json): boolean => one.traceId === TRACE && one.name === 'look it up';
  const work = await receiver.span('the worker', whole);
  for (const last of ['workflow look', 'invoke_agent ann', 'invoke_agent lead']) {
    await receiver.span(last, ({ name }) => name === last);
  }
  const way: string[] = [];
  for (let at: Json = work; at !== undefined; ) {
    way.push(`${at.service} ${at.name}`);
    const above: string = at.parentSpanId;
    at = receiver.spans.find(({ spanId }) => spanId === above);
  }
  expect(way.toReversed()).toEqual([
    'synod channels.send',
    'synod invoke_agent lead',
    'synod workflows.start',
    'flow workflow look',
    'flow turn turn:ann',
    'synod channels.send',
    'synod invoke_agent ann',
    'synod library work',
    'worker look it up',
  ]);
  const step = receiver.spans.find(({ name }) => name === 'step note');
  expect(step).toMatchObject({ traceId: TRACE, attributes: { 'synod.workflow': 'look-1' } });
});

test('[TL11] a hub in the background is told of its collector by a flag, and a command of its trace', async () => {
  const home = openHome();
  try {
    const started = await home.run(['up', '--port', '0', '--otlp', receiver.endpoint]);
    expect(started).toMatchObject({ code: 0 });
    const of = '5bf92f3577b34da6a3ce929d0e0e4736';
    const env = { TRACEPARENT: `00-${of}-00f067aa0ba902b7-01` };
    await home.run(['send', 'team/plan', 'hello', '--as', 'bob'], { env });
    const send = await receiver.span('the send', ({ traceId }) => traceId === of);
    expect(send).toMatchObject({ name: 'channels.send', parentSpanId: '00f067aa0ba902b7' });
  } finally {
    await home.run(['down']);
    await home.close();
  }
});

test('[TL3] a collector that never answers costs the hub nothing, and the log says what was lost', async () => {
  const mute = createServer(() => {});
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const otlp = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`;
  const lonely = await openRunningHub({ dir: join(base, 'lonely'), flags: { otlp } });
  for (let n = 0; n < 50; n++) {
    await lonely.ask('bob', 'send', { channel: 'alone', body: { n } });
  }
  await within('it closes', lonely.close());
  mute.closeAllConnections();
  mute.close();
  expect(lonely.log.join('\n')).toMatch(/warn telemetry: otlp did not take \d+ records/);
});
