/** Telemetry at its own door: what reaches a sink, what does not, and what that costs who tells it. */
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { parseTraceparent, type TraceContext } from '../core/law/traceparent.ts';
import { chatAttributes, tellDuration, tellTokens } from './gen-ai.ts';
import type { LogRecord, MetricRecord, Sink, SpanRecord, TelemetryRecord } from './record.ts';
import { currentTrace, withIds, withSpan, withTrace } from './scope.ts';
import { createTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts';

const PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

interface Listening {
  readonly telemetry: Telemetry;
  /** What a sink has got, once everything was written. */
  heard(): Promise<TelemetryRecord[]>;
}

function listen(
  options: Partial<TelemetryOptions> = {},
  level: Sink['level'] = 'debug',
): Listening {
  const got: TelemetryRecord[] = [];
  const sink: Sink = { level, write: (records) => void got.push(...records) };
  const telemetry = createTelemetry({ ...options, sinks: [sink, ...(options.sinks ?? [])] });
  return {
    telemetry,
    async heard() {
      await telemetry.flush();
      return got;
    },
  };
}

test('[TL1] every record says what it is about and its trace, through every await, and not its neighbour’s', async () => {
  const { telemetry, heard } = listen({ ids: { space: 'default' } });
  const work = (agent: string): Promise<void> =>
    telemetry.within({ agent, session: `s-${agent}` }, () =>
      telemetry.span('run', null, async () => {
        await withIds({ workflow: 'w', step: `step of ${agent}`, turn: 't1' }, async () => {
          await turnOfLoop();
          telemetry.info(`noted by ${agent}`);
        });
      }),
    );
  await Promise.all([work('ada'), work('bob')]);
  const records = await heard();
  for (const agent of ['ada', 'bob']) {
    const span = records.find(
      (one) => one.kind === 'span' && one.ids.agent === agent,
    ) as SpanRecord;
    const note = records.find(({ name }) => name === `noted by ${agent}`) as LogRecord;
    expect(note.ids).toEqual({
      ...{ space: 'default', agent, session: `s-${agent}`, workflow: 'w' },
      ...{ step: `step of ${agent}`, turn: 't1' },
    });
    expect([note.traceId, note.spanId]).toEqual([span.traceId, span.spanId]);
  }
});

test('[TL2] a sink gets its own level and what is above, each record once, whoever said it', async () => {
  const loud: TelemetryRecord[] = [];
  const own: TelemetryRecord[] = [];
  const { telemetry, heard } = listen({
    sinks: [{ level: 'warn', write: (records) => void loud.push(...records) }],
  });
  const child = telemetry.child({ agent: 'ada' }, [
    { level: 'debug', write: (records) => void own.push(...records) },
  ]);
  telemetry.debug('a');
  child.info('b');
  child.warn('c');
  telemetry.error('d');
  const names = (records: readonly TelemetryRecord[]) => records.map(({ name }) => name);
  expect(names(await heard())).toEqual(['a', 'b', 'c', 'd']);
  expect(names(loud)).toEqual(['c', 'd']);
  // A child's sinks are its own: what the parent says does not go there.
  expect(names(own)).toEqual(['b', 'c']);
  expect((await heard()).find(({ name }) => name === 'b')?.ids).toEqual({ agent: 'ada' });
});

test('[TL3] a sink that throws reaches nobody, and what it lost is counted and told', async () => {
  const got: TelemetryRecord[] = [];
  let isBroken = true;
  const telemetry = createTelemetry({
    sinks: [
      {
        write(records) {
          if (isBroken) throw new Error('broken');
          got.push(...records);
        },
      },
    ],
  });
  expect(telemetry.span('works', null, () => 42)).toBe(42);
  await telemetry.flush();
  expect(telemetry.counts()).toMatchObject([{ written: 0, dropped: 1, failed: 1, queued: 0 }]);
  isBroken = false;
  telemetry.info('again');
  await telemetry.flush();
  expect(got.map(({ name }) => name)).toEqual(['again', 'telemetry.dropped']);
  expect(got[1]?.attributes).toEqual({ sink: 'sink 1', count: 1 });
});

test('[TL3] a sink that never answers costs no more than its queue, and closing does not wait for it', async () => {
  let writes = 0;
  const telemetry = createTelemetry({
    sinks: [
      {
        write() {
          writes++;
          return new Promise<void>(() => {});
        },
      },
    ],
    queue: { recordsMax: 10, gatherMs: 0 },
  });
  for (let i = 0; i < 10; i++) telemetry.info('early');
  await telemetry.flush(20);
  for (let i = 0; i < 25; i++) telemetry.info('late');
  expect(writes).toBe(1);
  expect(telemetry.counts()).toMatchObject([{ dropped: 15, queued: 10 }]);
  await telemetry.close(20);
});

test('[TL5] secrets are gone before a sink sees a record, by name and by form', async () => {
  const { telemetry, heard } = listen({
    redact: (name, value) => {
      if (name === 'breaks') throw new Error('in the redactor');
      return name === 'customer' ? null : value;
    },
  });
  telemetry.info('call of sk-abcdefghijklmnop0123', {
    authorization: 'anything',
    'x-api-key': 'anything',
    text: 'Bearer abcdefgh12345678 and https://me:pass@host/ and syt_default.t1.abcdefghijkl',
    'gen_ai.usage.input_tokens': 12,
    customer: 'Ada',
    breaks: 'x',
    long: 'y'.repeat(5_000),
  });
  const [record] = await heard();
  expect(record?.name).toBe('call of [redacted]');
  expect(record?.attributes).toEqual({
    authorization: '[redacted]',
    'x-api-key': '[redacted]',
    text: '[redacted] and https://[redacted]@host/ and [redacted]',
    'gen_ai.usage.input_tokens': 12,
    breaks: '[redacted]',
    long: `${'y'.repeat(1_023)}…`,
  });
});

test('[TL6] a body leaves only where bodies were asked for, and is not even made otherwise', async () => {
  const attempt = async (content: boolean): Promise<{ made: number; record: SpanRecord }> => {
    const { telemetry, heard } = listen({ content });
    let made = 0;
    const failing = telemetry.span(
      'chat',
      { body: { text: 'in an object' } as never },
      async (span) => {
        span.content('gen_ai.input.messages', () => {
          made++;
          return 'the prompt';
        });
        throw new Error('the prompt, quoted');
      },
    );
    await expect(failing).rejects.toThrow('quoted');
    return { made, record: (await heard())[0] as SpanRecord };
  };
  const silent = await attempt(false);
  expect(silent.made).toBe(0);
  expect(JSON.stringify(silent.record)).not.toContain('prompt');
  expect(silent.record.attributes).toEqual({ body: '[object left out]' });
  expect(silent.record.error).toEqual({ type: 'Error', message: null });
  const asked = await attempt(true);
  expect(asked.record.attributes['gen_ai.input.messages']).toBe('the prompt');
  expect(asked.record.error?.message).toBe('the prompt, quoted');
});

test('[TL8] what is no traceparent changes nothing, and what is one is gone on with', async () => {
  const { telemetry, heard } = listen();
  const bad = [
    ...['', 'x', PARENT.toUpperCase(), `${PARENT}-more`, PARENT.replace('00-', 'ff-')],
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`,
    PARENT + 'x'.repeat(10_000),
  ];
  for (const one of bad) expect(withTrace(one, currentTrace)).toBeNull();
  expect(withTrace(PARENT, currentTrace)).toBe(PARENT);
  // A later version says more: what is known of it holds.
  expect(withTrace(`${PARENT.replace('00-', '01-')}-more`, currentTrace)).toBe(PARENT);
  const inner = withTrace(PARENT, () => telemetry.span('a', null, () => currentTrace()));
  const [span] = (await heard()) as SpanRecord[];
  expect(span?.traceId).toBe(PARENT.slice(3, 35));
  expect(span?.parentId).toBe(PARENT.slice(36, 52));
  expect(inner).toBe(`00-${span?.traceId}-${span?.spanId}-01`);
});

test('[TL9] without telemetry in force a span is the work alone: the same value, no scope, no trace', () => {
  const result = {};
  let inside: string | null = 'unset';
  const given = withSpan('x', { a: 1 }, (span) => {
    inside = currentTrace();
    span.set({ b: 2 });
    span.content('c', () => {
      throw new Error('is not called');
    });
    return result;
  });
  expect(given).toBe(result);
  expect(inside).toBeNull();
  // Telemetry with nobody to tell, or nobody at that level, is as good as none.
  for (const telemetry of [createTelemetry({ sinks: [] }), listen({}, 'error').telemetry]) {
    expect(telemetry.span('x', null, currentTrace)).toBeNull();
  }
});

test('[TL9] what the work gives or throws is handed on as it is', async () => {
  const { telemetry, heard } = listen();
  const promise = Promise.resolve(1);
  expect(telemetry.span('async', null, () => promise)).toBe(promise);
  const thrown = new TypeError('mine');
  expect(() =>
    telemetry.span('sync', null, () => {
      throw thrown;
    }),
  ).toThrow(thrown);
  await promise;
  const spans = (await heard()) as SpanRecord[];
  expect(spans.map(({ name, error }) => [name, error?.type])).toEqual([
    ['sync', 'TypeError'],
    ['async', undefined],
  ]);
});

test('[TL12] a share of the traces is kept whole, and what came from elsewhere stays as it was decided', async () => {
  const none = listen({ sample: 0 });
  none.telemetry.span('outer', null, () => withSpan('inner', null, () => {}));
  expect(await none.heard()).toEqual([]);
  expect(none.telemetry.span('outer', null, () => currentTrace())).toMatch(/-00$/);
  withTrace(PARENT, () => none.telemetry.span('kept', null, () => {}));
  expect((await none.heard()).map(({ name }) => name)).toEqual(['kept']);
  const all = listen();
  withTrace(PARENT.replace(/01$/, '00'), () => all.telemetry.span('left', null, () => {}));
  expect(await all.heard()).toEqual([]);
  expect(() => createTelemetry({ sinks: [], sample: 2 })).toThrow(RangeError);
});

test('[TL12] counts and measures are gathered and told together, and their series are bounded', async () => {
  const { telemetry, heard } = listen();
  for (const ms of [1, 20, 300]) telemetry.measure('took', ms, 'ms', { what: 'a' });
  telemetry.count('happened', {}, 3);
  telemetry.count('happened');
  for (let i = 0; i < 2_000; i++) telemetry.count('wild', { of: `${i}` });
  const records = (await heard()) as MetricRecord[];
  const took = records.find(({ name }) => name === 'took');
  expect(took).toMatchObject({ unit: 'ms', sum: 321, spread: { count: 3, min: 1, max: 300 } });
  expect(took?.spread?.buckets.reduce((a, b) => a + b)).toBe(3);
  expect(records.find(({ name }) => name === 'happened')).toMatchObject({ sum: 4, spread: null });
  const wild = records.filter(({ name }) => name === 'wild');
  expect(records.length).toBeLessThanOrEqual(1_025);
  expect(wild.reduce((sum, one) => sum + one.sum, 0)).toBe(2_000);
  expect(wild.at(-1)?.attributes).toEqual({ 'otel.metric.overflow': true });
});

test('[TL10] a span takes the ids that others were told before, under its own trace alone, with links', async () => {
  const { telemetry, heard } = listen();
  const told = telemetry.newTrace();
  const other = parseTraceparent(PARENT) as TraceContext;
  telemetry.span('first', null, () => {}, { as: told, links: [other] });
  withTrace(PARENT, () => telemetry.span('apart', null, () => {}, { as: telemetry.newTrace() }));
  withTrace(PARENT, () => telemetry.span('else', null, () => {}, { as: told }));
  const [first, apart, elsewhere] = (await heard()) as SpanRecord[];
  expect(first).toMatchObject({ traceId: told.traceId, spanId: told.spanId, parentId: null });
  expect(first?.links).toEqual([other]);
  expect(apart).toMatchObject({ traceId: other.traceId, parentId: other.spanId });
  expect(elsewhere?.parentId).toBeNull();
});

test('[TL7] providers are known by their address, and a call has the words of the conventions', async () => {
  const at = (baseUrl: string) => chatAttributes({ baseUrl, model: 'm' });
  expect(at('https://api.mistral.ai/v1')).toMatchObject({
    ...{ 'gen_ai.provider.name': 'mistral_ai', 'server.port': 443 },
  });
  expect(at('http://localhost:11434/v1')).toMatchObject({
    ...{ 'gen_ai.provider.name': 'openai', 'server.address': 'localhost', 'server.port': 11434 },
  });
  expect(at('nonsense')['server.address']).toBeUndefined();
  const { telemetry, heard } = listen();
  telemetry.span('chat m', at('nonsense'), (span) => {
    tellTokens(span, { tokensIn: 4, tokensOut: 2 }, at('nonsense'));
    tellDuration(1_500, at('nonsense'), 'timeout');
  });
  const records = await heard();
  const named = (name: string) => records.filter((one) => one.name === name) as MetricRecord[];
  const usage = named('gen_ai.client.token.usage');
  expect(usage.map((one) => [one.attributes['gen_ai.token.type'], one.sum, one.unit])).toEqual([
    ['input', 4, '{token}'],
    ['output', 2, '{token}'],
  ]);
  expect(named('gen_ai.client.operation.duration')[0]).toMatchObject({
    ...{ sum: 1.5, unit: 's', attributes: { 'error.type': 'timeout' } },
  });
});
