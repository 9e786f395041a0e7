/**
 * The text of a bus config, parsed: the reference's schema and our additions, defaults filled in.
 * A config that cannot be used is refused with the name of every field that is wrong. Keys nobody
 * reads are warnings, because configs of the reference must run unchanged; but a key that is not
 * known in a rule or a client is refused, since it would change who may do what.
 */
import { type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { BusConfig, KnownClient, PolicyRule, PoolConfig, TransportConfig } from './config.ts';
import { parseLimits } from './parse-config-limits.ts';
import { parsePools } from './parse-config-pool.ts';
import { BusConfigError, ConfigReader, type Fields, found } from './parse-config-reader.ts';

const RULES_MAX = 1_024;
const CLIENTS_MAX = 4_096;
const REASON_CHARS_MAX = 1_000;

export interface ParsedBusConfig extends BusConfig {
  /** What has no effect, a sentence each, with the field it is about. */
  readonly warnings: readonly string[];
}

/** `source` is what an error calls the text: the path of the file. */
export function parseBusConfig(text: string, source: string): ParsedBusConfig {
  return parseBusDocument(parseJson(text, source), source);
}

/** The same for a document somebody has already. */
export function parseBusDocument(document: unknown, source: string): ParsedBusConfig {
  const reader = new ConfigReader();
  const fields: Fields | null = reader.fields(document, '');
  if (fields === null) throw new BusConfigError(source, reader.problems);
  reader.remarkUnknown(fields, '', ['pools', 'limits', 'transport', 'policy', 'clients']);
  const pools = parsePools(reader, fields.pools);
  const config: ParsedBusConfig = {
    pools,
    limits: parseLimits(reader, fields.limits),
    transport: parseTransport(reader, fields.transport),
    policy: parsePolicy(reader, fields.policy, pools),
    clients: parseClients(reader, fields.clients),
    warnings: reader.warnings,
  };
  if (reader.problems.length > 0) throw new BusConfigError(source, reader.problems);
  return config;
}

function parseJson(text: string, source: string): unknown {
  const bare = text.startsWith('\u{feff}') ? text.slice(1) : text;
  try {
    return JSON.parse(bare);
  } catch (cause) {
    throw notJson(bare, source, cause);
  }
}

function notJson(text: string, source: string, cause: unknown): BusConfigError {
  return new BusConfigError(source, [{ field: '', issue: jsonIssue(text) }], { cause });
}

/** The engine does not always say where; this parser does. */
function jsonIssue(text: string): string {
  if (text.trim() === '') return 'is empty; it must be a JSON object with "pools"';
  const first = firstError(text);
  if (first === undefined) return 'is not JSON';
  const before = text.slice(0, first.offset).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  const what = printParseErrorCode(first.error)
    .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    .trim();
  return `is not JSON: ${what} at line ${before.length}, column ${column}`;
}

function firstError(text: string): ParseError | undefined {
  const errors: ParseError[] = [];
  try {
    parseTree(text, errors, { disallowComments: true, allowTrailingComma: false });
  } catch {
    // Nested deeper than the stack: whatever it is, it is no config.
  }
  return errors[0];
}

const NOT_HERE: Readonly<Record<string, string>> = {
  shm: 'shared memory is not a transport of this bus; use "unix"',
  mqueue: 'message queues are not a transport of this bus; use "unix"',
  raw: 'raw frames belong to message queues, which this bus does not have; use "ndjson" or "length"',
  capnp: 'Cap’n Proto is not a framing of this bus; use "ndjson" or "length"',
  binary: 'the binary envelope is not a protocol of this bus; use "json" with "length" framing',
};

function parseTransport(reader: ConfigReader, value: unknown): TransportConfig {
  const fields = value === undefined || value === null ? {} : reader.fields(value, 'transport');
  const { mode, framing, protocol, options } = fields ?? {};
  reader.remarkUnknown(fields ?? {}, 'transport', ['mode', 'framing', 'protocol', 'options']);
  if (options !== undefined) {
    reader.warn('transport.options', 'has no effect: it is for transports this bus does not have');
  }
  wordOf(reader, 'protocol', protocol, ['json']);
  return {
    mode: wordOf(reader, 'mode', mode, ['stdio', 'unix', 'tcp']),
    framing: wordOf(reader, 'framing', framing, ['ndjson', 'length']) ?? 'ndjson',
  };
}

function wordOf<Word extends string>(
  reader: ConfigReader,
  key: string,
  value: unknown,
  words: readonly Word[],
): Word | null {
  if (value === undefined || value === null) return null;
  const field = `transport.${key}`;
  const reason = typeof value === 'string' && Object.hasOwn(NOT_HERE, value) && NOT_HERE[value];
  if (reason) {
    reader.refuse(field, `${found(value)}: ${reason}`);
    return null;
  }
  return reader.oneOf(value, field, words);
}

const RULE_KEYS = ['effect', 'method', 'pool', 'subject', 'role', 'reason'];

function parsePolicy(
  reader: ConfigReader,
  value: unknown,
  pools: readonly PoolConfig[],
): readonly PolicyRule[] {
  return bounded(reader, value, 'policy', RULES_MAX).map((one, i): PolicyRule => {
    const field = `policy[${i}]`;
    const fields = reader.fields(one, field) ?? {};
    reader.refuseUnknown(fields, field, RULE_KEYS);
    const pool = reader.optionalText(fields.pool, `${field}.pool`);
    if (pool !== null && pool !== '' && !pools.some(({ id }) => id === pool)) {
      reader.refuse(`${field}.pool`, `there is no pool ${found(pool)}`);
    }
    const { reason = null } = fields;
    return {
      effect: reader.oneOf(fields.effect, `${field}.effect`, ['allow', 'deny']),
      method: reader.optionalText(fields.method, `${field}.method`),
      pool,
      subject: reader.optionalText(fields.subject, `${field}.subject`),
      role: reader.optionalText(fields.role, `${field}.role`),
      reason: reason === null ? null : reader.text(reason, `${field}.reason`, REASON_CHARS_MAX),
    };
  });
}

const CLIENT_KEYS = ['subjectId', 'role', 'token_sha256'];

function parseClients(reader: ConfigReader, value: unknown): readonly KnownClient[] {
  const seen = new Set<string>();
  return bounded(reader, value, 'clients', CLIENTS_MAX).map((one, i): KnownClient => {
    const field = `clients[${i}]`;
    const fields = reader.fields(one, field) ?? {};
    reader.refuseUnknown(fields, field, CLIENT_KEYS);
    const { token_sha256: raw } = fields;
    const tokenHash = typeof raw === 'string' ? raw.toLowerCase() : '';
    // The value is not shown: somebody may have written the token itself.
    if (!/^[0-9a-f]{64}$/.test(tokenHash)) {
      reader.refuse(
        `${field}.token_sha256`,
        'must be the SHA-256 of the token, 64 hexadecimal digits',
      );
    } else if (seen.has(tokenHash)) {
      reader.refuse(`${field}.token_sha256`, 'is that of another client; give each its own token');
    }
    seen.add(tokenHash);
    return {
      subjectId: reader.text(fields.subjectId, `${field}.subjectId`),
      role: reader.optionalText(fields.role, `${field}.role`) ?? 'client',
      tokenHash,
    };
  });
}

function bounded(
  reader: ConfigReader,
  value: unknown,
  field: string,
  max: number,
): readonly unknown[] {
  const list = reader.list(value ?? undefined, field);
  if (list.length <= max) return list;
  reader.refuse(field, `must have at most ${max} entries; found ${list.length}`);
  return [];
}
