/**
 * The hub's telemetry: to a collector, into a file, or both, as the configuration says; nothing is opened
 * where it says nothing. A sink that loses records is told of in the hub's log, once until it recovers.
 */
import type { Sink } from '../../telemetry/record.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { TelemetryConfig } from './config-telemetry.ts';
import type { ServerLog } from './server-log.ts';

const LOOK_MS = 30_000;
const CLOSE_MS = 2_000;

export interface HubTelemetry {
  readonly telemetry: Telemetry;
  close(): Promise<void>;
}

export async function openHubTelemetry(
  config: TelemetryConfig,
  version: string,
  log: ServerLog,
): Promise<HubTelemetry> {
  const { createTelemetry } = await import('../../telemetry/telemetry.ts');
  const telemetry = createTelemetry({
    sinks: await openSinks(config, version),
    content: config.hasContent,
    sample: config.sample,
  });
  const lost = new Map<number, number>();
  const look = (): void => {
    for (const [at, { name, dropped }] of telemetry.counts().entries()) {
      const before = lost.get(at) ?? 0;
      lost.set(at, dropped);
      if (dropped > before)
        log('warn', `telemetry: ${name} did not take ${dropped - before} records`);
    }
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    telemetry,
    async close() {
      clearInterval(timer);
      await telemetry.close(CLOSE_MS);
      look();
    },
  };
}

async function openSinks(
  { otlp, file, service }: TelemetryConfig,
  version: string,
): Promise<Sink[]> {
  const sinks: Sink[] = [];
  if (otlp !== null) {
    const { otlpSink } = await import('../../telemetry/otlp-sink.ts');
    const resource = { 'service.name': service, 'service.version': version };
    sinks.push(otlpSink({ endpoint: otlp.endpoint, headers: otlp.headers, resource }));
  }
  if (file !== null) {
    const { jsonlSink } = await import('../../telemetry/jsonl-sink.ts');
    sinks.push(jsonlSink({ path: file }));
  }
  return sinks;
}
