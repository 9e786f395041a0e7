/** The sinks in the box: a file of lines, and a collector that is really spoken to. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { context, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { jsonlSink } from './jsonl-sink.ts';
import { otlpSink } from './otlp-sink.ts';
import { withTrace } from './scope.ts';
import { createTelemetry } from './telemetry.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Readonly<Record<string, unknown>>;
}

let dir: string;
let collector: Server;
let endpoint: string;
let posts: Post[] = [];
let answers: { status: number; headers?: Record<string, string>; text?: string }[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-telemetry-'));
  collector = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { url: path = '', headers } = request;
    posts.push({ path, headers, body: JSON.parse(text) });
    const { status, headers: with_ = {}, text: said = '{}' } = answers.shift() ?? { status: 200 };
    response.writeHead(status, { 'content-type': 'application/json', ...with_ }).end(said);
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterEach(() => {
  posts = [];
  answers = [];
});
afterAll(async () => {
  collector.closeAllConnections();
  collector.close();
  await rm(dir, { recursive: true, force: true });
});

test('[TL4] a JSONL file has a line for each record, is its owner’s alone, and is bounded', async () => {
  const path = join(dir, 'deep', 'telemetry.jsonl');
  const telemetry = createTelemetry({
    sinks: [jsonlSink({ path, maxBytes: 1_000 })],
    ids: { space: 'default' },
  });
  telemetry.span('build', { branch: 'main' }, () => telemetry.info('noted', { n: 1 }));
  telemetry.count('built');
  await telemetry.flush();
  const lines = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one));
  expect(lines).toHaveLength(3);
  const of = (kind: string) => lines.find((one) => one.kind === kind);
  expect(of('span')).toMatchObject({
    name: 'build',
    space: 'default',
    attributes: { branch: 'main' },
  });
  expect(of('log')).toMatchObject({
    trace: of('span').trace,
    span: of('span').span,
    level: 'info',
  });
  expect(of('metric')).toMatchObject({ name: 'built', sum: 1 });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  telemetry.info('z'.repeat(600));
  await telemetry.close();
  expect((await readFile(`${path}.1`, 'utf8')).split('\n')).toHaveLength(4);
  expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(2);
});

/** The key of everything that is there, so that two values can be compared by form. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [formOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, formOf(one)]));
}

type SpanPost = { resourceSpans: { scopeSpans: { spans: Record<string, unknown>[] }[] }[] };
const spanIn = ({ body }: Post): Record<string, unknown> =>
  (body as unknown as SpanPost).resourceSpans[0]?.scopeSpans[0]?.spans[0] ?? {};

test('[TL4] a collector gets from us what it gets from OpenTelemetry’s own exporter', async () => {
  // The vendor's packages are the judge: the same span by both ways.
  const theirs = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(new OTLPTraceExporter({ url: `${endpoint}/v1/traces` })),
    ],
  });
  const remote = { traceId: TRACE, spanId: PARENT, traceFlags: TraceFlags.SAMPLED, isRemote: true };
  const span = theirs.getTracer('synod').startSpan(
    'chat',
    {
      kind: SpanKind.CLIENT,
      attributes: { text: 'a', whole: 3, part: 0.5, yes: true, list: ['x'] },
    },
    trace.setSpanContext(context.active(), remote),
  );
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
  await theirs.forceFlush();
  await theirs.shutdown();
  const ours = createTelemetry({ sinks: [otlpSink({ endpoint, headers: { 'x-key': 'k' } })] });
  withTrace(`00-${TRACE}-${PARENT}-01`, () =>
    ours.span(
      'chat',
      { text: 'a', whole: 3, part: 0.5, yes: true, list: ['x'] },
      (one) => one.fail('timeout'),
      { kind: 'client' },
    ),
  );
  await ours.close();
  const [their, our] = posts.map(spanIn) as [Record<string, unknown>, Record<string, unknown>];
  expect(posts.map(({ path }) => path)).toEqual(['/v1/traces', '/v1/traces']);
  expect(posts[1]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-key': 'k' });
  expect(Object.keys(their)).toEqual(expect.arrayContaining(Object.keys(our)));
  for (const name of ['traceId', 'parentSpanId', 'name', 'kind', 'status']) {
    expect(our[name], name).toEqual(their[name]);
  }
  for (const name of ['spanId', 'startTimeUnixNano', 'endTimeUnixNano']) {
    expect(formOf(our[name]), name).toEqual(formOf(their[name]));
    expect(String(our[name]).length, name).toBe(String(their[name]).length);
  }
  // Whole numbers may be a number or a text in JSON; every collector takes both.
  const said = (one: Record<string, unknown>) =>
    JSON.stringify(one.attributes).replaceAll(/"intValue":"?(\d+)"?/g, '"intValue":$1');
  expect(said(our)).toContain(said(their).slice(0, -1));
});

test('[TL4] notes and measures go to their own places, and what is asked for again is sent again', async () => {
  answers = [{ status: 503 }];
  const telemetry = createTelemetry({ sinks: [otlpSink({ endpoint: `${endpoint}/` })] });
  telemetry.warn('careful', { n: 1 });
  telemetry.measure('took', 0.2, 's');
  await telemetry.flush(5_000);
  expect(posts.map(({ path }) => path).toSorted()).toHaveLength(3);
  const last = (path: string) => posts.findLast((one) => one.path === path)?.body;
  expect(last('/v1/logs')).toMatchObject({
    resourceLogs: [{ scopeLogs: [{ logRecords: [{ severityNumber: 13, eventName: 'careful' }] }] }],
  });
  expect(last('/v1/metrics')).toMatchObject({
    resourceMetrics: [
      { scopeMetrics: [{ metrics: [{ name: 'took', histogram: { aggregationTemporality: 1 } }] }] },
    ],
  });
  expect(telemetry.counts()).toMatchObject([{ name: 'otlp', written: 2, dropped: 0 }]);
  await telemetry.close();
});

test('[TL3] a collector that refuses, redirects or takes only some: what is lost is counted', async () => {
  const telemetry = createTelemetry({ sinks: [otlpSink({ endpoint })] });
  for (const answer of [
    { status: 400 },
    { status: 307, headers: { location: 'http://127.0.0.1:1/' } },
    { status: 200, text: '{"partialSuccess":{"rejectedLogRecords":"1"}}' },
  ]) {
    answers = [answer];
    telemetry.info('one');
    await telemetry.flush(5_000);
  }
  // The second and third carried a word about what was lost before.
  expect(telemetry.counts()).toMatchObject([{ failed: 2, dropped: 3 }]);
  await telemetry.close();
  expect(() => otlpSink({ endpoint: 'collector:4318' })).toThrow(TypeError);
});
