/** Whom the hub tells what it does: nobody, unless a collector or a file was named [TL11]. */
import type { ConfigFile } from './config-file.ts';

export interface TelemetryConfig {
  readonly otlp: {
    readonly endpoint: string;
    readonly headers: Readonly<Record<string, string>>;
  } | null;
  /** Absolute. */
  readonly file: string | null;
  /** The share of new traces that is kept. */
  readonly sample: number;
  /** Bodies leave too. */
  readonly hasContent: boolean;
  /** What the hub calls itself there. */
  readonly service: string;
}

export function telemetryOf(
  said: ConfigFile,
  absolute: (path: string) => string,
): TelemetryConfig | null {
  const { otlp, telemetry_file: file } = said;
  if (otlp === undefined && file === undefined) return null;
  return {
    otlp: otlp === undefined ? null : { endpoint: otlp, headers: said.otlp_headers ?? {} },
    file: file === undefined ? null : absolute(file),
    sample: said.telemetry_sample ?? 1,
    hasContent: said.telemetry_content ?? false,
    service: said.telemetry_service ?? 'synod',
  };
}
