/**
 * The plugin manifest `sox-plugin.yaml`: parsed, bounded, and refused field by field.
 *
 * The accepted shape is the contract's schema, closed at every level; the one leniency is
 * `applies_to` as a bare list of operations. Nothing here touches the plugin's code, so a refused
 * plugin has never run.
 */

import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import { z } from 'zod';
import { shape } from '../../wire/shape.ts';
import { SOX_OPERATIONS } from '../../wire/sox.ts';
import { MANIFEST_BYTES_MAX, REFERENCES_MAX } from './limits.ts';
import { parseRange, type Range } from './range.ts';
import { PluginStartupError } from './startup-error.ts';

// A hub without plugins never reads YAML, and should not load what does.
const load = createRequire(import.meta.url);
const parseYaml = (text: string): unknown => (load('yaml') as typeof Yaml).parse(text);

export type PluginKind = 'interceptor' | 'transformer' | 'provider' | 'hook';
export type Transport = 'http' | 'stdio';

export interface Manifest {
  readonly id: string;
  readonly version: string;
  readonly kind: PluginKind;
  readonly protocolRange: Range;
  readonly isObserveOnly: boolean;
  /** False only when the manifest says so: short-circuiting is an interceptor's right by default. */
  readonly mayShortCircuit: boolean;
  readonly capabilities: readonly string[];
  readonly operations: ReadonlySet<string>;
  readonly transports: ReadonlySet<string>;
  readonly requires: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

const OPERATIONS = ['*', ...SOX_OPERATIONS] as const;

const FLAGS: ReadonlySet<string> = new Set(['observe_only', 'may_short_circuit']);

const unique = <Item extends z.ZodType>(item: Item) =>
  z.array(item).refine((list) => new Set(list).size === list.length, 'items must be unique');

const references = shape(() => unique(z.string().min(1).max(256)).max(REFERENCES_MAX));

const capability = shape(() =>
  z
    .record(z.string().min(1).max(256), z.union([z.boolean(), z.string()]))
    .superRefine((entry, context) => {
      const keys = Object.keys(entry);
      const key = keys[0];
      if (keys.length !== 1 || key === undefined) {
        context.addIssue({ code: 'custom', message: 'must have exactly one key' });
        return;
      }
      const expected = FLAGS.has(key) ? 'boolean' : 'string';
      if (typeof entry[key] !== expected) {
        context.addIssue({ code: 'custom', message: `must be a ${expected}`, path: [key] });
      }
    }),
);

const capabilities = shape(() =>
  z
    .array(capability())
    .max(16)
    .refine(
      (list) => !(hasFlag(list, 'observe_only', true) && hasFlag(list, 'may_short_circuit', true)),
      'observe_only: true and may_short_circuit: true exclude each other',
    ),
);

const operations = shape(() => unique(z.enum(OPERATIONS)).min(1));

const schema = shape(() =>
  z.strictObject({
    apiVersion: z.literal('sox.dev/v1'),
    kind: z.literal('SoxPlugin'),
    metadata: z.strictObject({
      id: z
        .string()
        .max(128)
        .regex(/^[a-z][a-z0-9]*(\.[a-z][a-z0-9-]*)+$/),
      version: z.string().max(128).regex(SEMVER, 'must be a full SemVer version'),
      display_name: z.string().min(1).max(128).optional(),
      description: z.string().max(512).optional(),
    }),
    spec: z.strictObject({
      protocol_version: z
        .string()
        .refine(
          (text) => parseRange(text) !== null,
          'must be a PEP 440 specifier list or npm range',
        ),
      plugin_kind: z.enum(['interceptor', 'transformer', 'provider', 'hook']),
      plugin_capabilities: capabilities().default([]),
      applies_to: z.preprocess(
        (scope) => (Array.isArray(scope) ? { operations: scope } : scope),
        z
          .strictObject({
            operations: operations().optional(),
            transports: unique(z.enum(['*', 'stdio', 'http']))
              .min(1)
              .optional(),
          })
          .optional(),
      ),
      requires: references().default([]),
      must_run_before: references().default([]),
      must_run_after: references().default([]),
      config_schema_ref: z.string().max(1024).optional(),
      signatures: z.array(z.strictObject({ algorithm: z.string(), value: z.string() })).max(16),
    }),
  }),
);

function hasFlag(
  list: readonly Readonly<Record<string, boolean | string>>[],
  flag: string,
  value: boolean,
): boolean {
  return list.some((entry) => entry[flag] === value);
}

/** Reads a manifest from YAML text or an object; `source` names it in the error. */
export function parseManifest(source: string, manifest: unknown): Manifest {
  const document = typeof manifest === 'string' ? readYaml(source, manifest) : manifest;
  const parsed = schema().safeParse(document);
  if (!parsed.success) {
    const faults = parsed.error.issues.map(
      (issue) => `${issue.path.join('.') || '<root>'}: ${issue.message}`,
    );
    throw invalid(source, idOf(document), faults.join('; '));
  }
  const { metadata, spec } = parsed.data;
  return {
    id: metadata.id,
    version: metadata.version,
    kind: spec.plugin_kind,
    protocolRange: parseRange(spec.protocol_version) as Range,
    isObserveOnly: hasFlag(spec.plugin_capabilities, 'observe_only', true),
    mayShortCircuit: !hasFlag(spec.plugin_capabilities, 'may_short_circuit', false),
    capabilities: spec.plugin_capabilities
      .flatMap((entry) => Object.keys(entry))
      .filter((key) => !FLAGS.has(key)),
    operations: new Set(spec.applies_to?.operations ?? ['*']),
    transports: new Set(spec.applies_to?.transports ?? ['*']),
    requires: spec.requires,
    before: spec.must_run_before,
    after: spec.must_run_after,
  };
}

/** Whether calls of this operation at this door pass through the plugin. */
export function isInScope(manifest: Manifest, operation: string, transport: Transport): boolean {
  return (
    (manifest.operations.has('*') || manifest.operations.has(operation)) &&
    (manifest.transports.has('*') || manifest.transports.has(transport))
  );
}

function readYaml(source: string, text: string): unknown {
  if (Buffer.byteLength(text) > MANIFEST_BYTES_MAX) {
    throw invalid(source, null, `the manifest is larger than ${MANIFEST_BYTES_MAX} bytes`);
  }
  try {
    return parseYaml(text);
  } catch (cause) {
    throw invalid(source, null, `not YAML: ${(cause as Error).message.split('\n', 1)[0]}`, cause);
  }
}

function idOf(document: unknown): string | null {
  const id = (document as { metadata?: { id?: unknown } } | null)?.metadata?.id;
  return typeof id === 'string' ? id : null;
}

function invalid(
  source: string,
  pluginId: string | null,
  what: string,
  cause?: unknown,
): PluginStartupError {
  return new PluginStartupError(
    {
      error_code: 'plugin_manifest_invalid',
      plugin_id: pluginId,
      remediation: `correct the manifest of ${source}, or remove the plugin`,
    },
    `${source}: ${what}`,
    { cause },
  );
}
