/**
 * A collector as small as one can be: it takes what OTLP over HTTP brings as JSON, keeps every span as it
 * came, and waits for one that is wanted. It knows nothing of our own telemetry.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { within } from './deadline.ts';

export interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** As OTLP numbers them: 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** Everything that came, as text: nothing may be in it that was not asked for. */
  readonly text: () => string;
  readonly metrics: readonly string[];
  span(what: string, isWanted: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: what came is looked into freely.
type Json = any;

export async function openOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const texts: string[] = [];
  const metrics: string[] = [];
  const lookers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    texts.push(text);
    const body = JSON.parse(text);
    for (const one of body.resourceSpans ?? []) spans.push(...spansOf(one));
    for (const { scopeMetrics } of body.resourceMetrics ?? []) {
      for (const scope of scopeMetrics)
        metrics.push(...scope.metrics.map(({ name }: Json) => name));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    for (const look of [...lookers]) look();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    text: () => texts.join('\n'),
    span(what, isWanted) {
      const { promise, resolve } = Promise.withResolvers<ReceivedSpan>();
      const look = (): void => {
        const found = spans.find(isWanted);
        if (found !== undefined) resolve(found);
      };
      lookers.add(look);
      look();
      return within(`${what}; there are ${spans.map(({ name }) => name)}`, promise).finally(() =>
        lookers.delete(look),
      );
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function spansOf({ resource, scopeSpans }: Json): ReceivedSpan[] {
  const service = attributesOf(resource.attributes)['service.name'] as string;
  return scopeSpans.flatMap(({ spans }: Json) =>
    spans.map((one: Json) => ({
      ...{ service, traceId: one.traceId, spanId: one.spanId, name: one.name, kind: one.kind },
      ...{ parentSpanId: one.parentSpanId, status: one.status ?? {}, links: one.links ?? [] },
      attributes: attributesOf(one.attributes),
    })),
  );
}

function attributesOf(list: Json[]): Record<string, unknown> {
  return Object.fromEntries(
    list.map(({ key, value }) => {
      const [[kind, said] = ['', null]] = Object.entries(value);
      return [key, kind === 'intValue' ? Number(said) : said];
    }),
  );
}
