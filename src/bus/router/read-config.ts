/**
 * Brings the config of a bus in: from a file, or from a descriptor that was handed over, read to its
 * end. A relative `cwd`, and a command with a slash in it, are meant from the folder of the file.
 */
import { createReadStream, existsSync, fstatSync, type Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import type { PoolConfig } from './config.ts';
import { BusConfigError } from './config-reader.ts';
import { type ParsedBusConfig, parseBusConfig } from './parse-config.ts';

/** The reference's range. */
export const DESCRIPTOR_MAX = 1_024;
const CONFIG_BYTES_MAX = 67_108_864;
/** The config is written at once; a descriptor that is never closed must not hold us for ever. */
const DESCRIPTOR_WAIT_MS = 30_000;

/** Behind stdin, stdout and stderr; the runtime opens its own before anything else. */
const FIRST_OWN_DESCRIPTOR = 3;
const OWN_DESCRIPTORS_END = 64;
const KIND_BITS = 0o170_000;

export type ConfigSource = { readonly path: string } | { readonly fd: number };

export function sourceName(source: ConfigSource): string {
  return 'path' in source ? source.path : `descriptor ${source.fd}`;
}

/** Throws a BusConfigError that names the source, and the field when one is wrong. */
export async function readBusConfig(source: ConfigSource): Promise<ParsedBusConfig> {
  const name = sourceName(source);
  const text = await readText(source).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof BusConfigError) throw cause;
    throw new BusConfigError(name, [{ field: '', issue: readIssue(cause) }], { cause });
  });
  const config = parseBusConfig(text, name);
  return 'path' in source ? placeConfig(config, dirname(resolve(source.path))) : config;
}

async function readText(source: ConfigSource): Promise<string> {
  if ('path' in source) {
    const { size } = await stat(source.path);
    if (size > CONFIG_BYTES_MAX) throw tooLarge(source);
    return readFile(source.path, 'utf8');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const input = openDescriptor(source.fd);
  const timer = setTimeout(
    () => input.destroy(new Error(`did not end within ${DESCRIPTOR_WAIT_MS / 1_000} s; close it`)),
    DESCRIPTOR_WAIT_MS,
  );
  try {
    for await (const chunk of input as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > CONFIG_BYTES_MAX) throw tooLarge(source);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
    input.destroy();
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A pipe may be set not to block, which plain file reads take for an error: it is read as a socket. */
function openDescriptor(fd: number): Readable {
  const kind = fstatSync(fd);
  if (isOurOwn(fd, kind)) throw Object.assign(new Error('not handed over'), { code: 'EBADF' });
  return kind.isFIFO() || kind.isSocket()
    ? new Socket({ fd, readable: true, writable: false })
    : createReadStream('', { fd });
}

/**
 * A number that was not handed over may be a descriptor of the runtime itself: something
 * without a kind, or one end of a pipe whose other end is ours too. Reading it would break us.
 */
function isOurOwn(fd: number, kind: Stats): boolean {
  if ((kind.mode & KIND_BITS) === 0) return true;
  if (!kind.isFIFO()) return false;
  for (let other = FIRST_OWN_DESCRIPTOR; other < OWN_DESCRIPTORS_END; other += 1) {
    if (other !== fd && isSameFile(other, kind)) return true;
  }
  return false;
}

function isSameFile(fd: number, kind: Stats): boolean {
  try {
    const { dev, ino } = fstatSync(fd);
    return dev === kind.dev && ino === kind.ino;
  } catch {
    return false;
  }
}

function tooLarge(source: ConfigSource): BusConfigError {
  const issue = `is larger than ${CONFIG_BYTES_MAX} bytes`;
  return new BusConfigError(sourceName(source), [{ field: '', issue }]);
}

const READ_ISSUES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'may not be read by this user',
  EISDIR: 'is a folder, not a file',
  EBADF: 'is not open in this process; pass it on, or use --config FILE',
};

function readIssue({ code, message }: NodeJS.ErrnoException): string {
  return (
    (code === undefined ? undefined : READ_ISSUES[code]) ??
    (code === undefined ? message : `cannot be read (${code})`)
  );
}

/** What is relative in a config file, made absolute. */
function placeConfig(config: ParsedBusConfig, folder: string): ParsedBusConfig {
  const warnings = [...config.warnings];
  const pools = config.pools.map((pool, i): PoolConfig => {
    const cwd = pool.cwd === null ? null : resolve(folder, pool.cwd);
    const command = placeCommand(pool.command, folder);
    if (command !== pool.command && !existsSync(command) && existsSync(resolve(pool.command))) {
      // Configs of the reference mean the folder the bus is started in.
      warnings.push(
        `pools[${i}].command: taken from the folder the bus runs in; there is none at ${command}`,
      );
      return { ...pool, cwd, command: resolve(pool.command) };
    }
    return { ...pool, cwd, command };
  });
  return { ...config, pools, warnings };
}

/** A bare name is looked up in PATH. */
function placeCommand(command: string, folder: string): string {
  return /[/\\]/.test(command) && !isAbsolute(command) ? resolve(folder, command) : command;
}
