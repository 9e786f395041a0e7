/**
 * What tests of the plugin host share: a manifest, a call, a host with registered plugins and
 * a node_modules tree on disk. Only the store is a stand-in: a list of what reached it.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { CallContext } from '../src/server/plugins/context.ts';
import {
  openPluginHost,
  type PluginHost,
  type PluginHostOptions,
} from '../src/server/plugins/host.ts';
import type { PluginKind } from '../src/server/plugins/manifest.ts';
import { createPluginRegistry, type PluginFactory } from '../src/server/plugins/registry.ts';
import type { Reply } from '../src/server/plugins/reply.ts';
import type { TraceEntry } from '../src/server/plugins/trace.ts';

export interface TestPlugin {
  readonly id: string;
  readonly kind: PluginKind;
  readonly spec?: Record<string, unknown>;
  readonly make: PluginFactory;
}

export function manifestOf(
  id: string,
  kind: string,
  spec: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    apiVersion: 'sox.dev/v1',
    kind: 'SoxPlugin',
    metadata: { id, version: '1.2.3' },
    spec: { protocol_version: '>=1.0,<2.0', plugin_kind: kind, signatures: [], ...spec },
  };
}

export interface TestHost {
  readonly host: PluginHost;
  /** `level line` of everything logged. */
  readonly lines: string[];
  /** The inputs that reached the store. */
  readonly stored: Record<string, unknown>[];
  /** Runs one call; the store answers `{ ok: { stored: n } }`. */
  run(call?: Partial<CallContext>): Promise<{ reply: Reply; trace: readonly TraceEntry[] }>;
}

export async function openTestHost(
  plugins: readonly TestPlugin[],
  options: Partial<PluginHostOptions> = {},
): Promise<TestHost> {
  const registry = createPluginRegistry();
  for (const { id, kind, spec, make } of plugins) {
    registry.registerPlugin(id, make, manifestOf(id, kind, spec));
  }
  const lines: string[] = [];
  const stored: Record<string, unknown>[] = [];
  const host = await openPluginHost({
    builtins: [],
    cwd: tmpdir(),
    env: {},
    discover: false,
    skipMismatched: false,
    registry,
    log: (level, line, cause) =>
      lines.push(`${level} ${line}${cause === undefined ? '' : `: ${cause}`}`),
    ...options,
  });
  onTestFinished(() => host.close());
  return {
    host,
    lines,
    stored,
    run: (call) =>
      host.run(createCall(call), async ({ input }) => {
        stored.push(input);
        return { ok: { stored: stored.length } };
      }),
  };
}

export function createCall(call: Partial<CallContext> = {}): CallContext {
  return {
    operation: 'send',
    transport: 'http',
    input: { channel: 'test:x', body: { type: 'status_update' }, correlation_id: 'c-1' },
    agentId: 'ada',
    connectionId: 'connection-1',
    correlationId: 'call-1',
    metadata: {},
    ...call,
  };
}

/** Verdicts by id, in the order of the trace. */
export function verdicts(trace: readonly TraceEntry[]): string[] {
  return trace.map(({ plugin_id: id, verdict }) => `${id} ${verdict}`);
}

export function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'synod-plugin-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes files under a folder; an object is written as JSON. */
export function writeFiles(folder: string, files: Record<string, unknown>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    );
  }
}
