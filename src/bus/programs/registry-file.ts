/**
 * An ACP registry: a file that lists agents and how each is run. It is read once, from a path, a
 * `file:` URL, or an http(s) URL that somebody gave; there is no address of our own. What is wrong
 * in it is named by its field. Custom agents are more of the same and win over it.
 */
import { readFile } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { basename, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject, type JsonObject, textAt } from '../process/json-object.ts';
import { messageOfError, ProgramConfigError, readBounded } from './program-error.ts';

export interface Runnable {
  /** The package, or null for a binary. */
  readonly package: string | null;
  readonly cmd: string | null;
  readonly archive: string | null;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface RegistryAgent {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly npx: Runnable | null;
  readonly uvx: Runnable | null;
  /** By platform: `linux-x86_64`. */
  readonly binary: ReadonlyMap<string, Runnable>;
  readonly mcpServers: readonly JsonObject[];
}

export type Registry = ReadonlyMap<string, RegistryAgent>;

const REGISTRY_BYTES_MAX = 16 * 1024 * 1024;
const AGENTS_MAX = 10_000;
const FETCH_MS = 30_000;

export async function readRegistry(source: string, custom: string | null): Promise<Registry> {
  const agents = parseRegistry(await readSource(source), source);
  if (custom === null) return agents;
  return new Map([...agents, ...parseRegistry(await readSource(custom), custom)]);
}

async function readSource(source: string): Promise<unknown> {
  let text: string;
  try {
    text = /^https?:/.test(source)
      ? await fetchText(source)
      : await readFile(pathOf(source), 'utf8');
  } catch (cause) {
    throw new ProgramConfigError(`${source} cannot be read: ${messageOfError(cause)}`, { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ProgramConfigError(`${source} is not JSON: ${messageOfError(cause)}`, { cause });
  }
}

function pathOf(source: string): string {
  return source.startsWith('file:') ? fileURLToPath(source) : source;
}

async function fetchText(url: string): Promise<string> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(FETCH_MS) });
  if (!response.ok) throw new ProgramConfigError(`it answered ${response.status}`);
  const tooLong = (): Error =>
    new ProgramConfigError(`it is longer than ${REGISTRY_BYTES_MAX} bytes`);
  return readBounded(response.body ?? [], REGISTRY_BYTES_MAX, tooLong);
}

export function parseRegistry(value: unknown, source: string): Registry {
  const list = isObject(value) ? value.agents : undefined;
  if (!Array.isArray(list)) throw new ProgramConfigError(`${source}: agents must be a list`);
  if (list.length > AGENTS_MAX) {
    throw new ProgramConfigError(
      `${source}: agents has ${list.length} entries; at most ${AGENTS_MAX}`,
    );
  }
  const agents = new Map<string, RegistryAgent>();
  for (const [at, entry] of list.entries()) {
    const agent = parseAgent(entry, `${source}: agents[${at}]`);
    if (agents.has(agent.id)) {
      throw new ProgramConfigError(`${source}: agents[${at}].id: ${agent.id} is there twice`);
    }
    agents.set(agent.id, agent);
  }
  return agents;
}

function parseAgent(entry: unknown, where: string): RegistryAgent {
  if (!isObject(entry)) throw new ProgramConfigError(`${where} must be an object`);
  const id = textAt(entry, 'id');
  if (id === undefined || id === '') throw new ProgramConfigError(`${where}.id must be a string`);
  const { distribution } = entry;
  if (!isObject(distribution))
    throw new ProgramConfigError(`${where}.distribution must be an object`);
  const part = (name: string, value: unknown, needs: 'package' | 'cmd'): Runnable | null =>
    value === undefined ? null : parseRunnable(value, `${where}.distribution.${name}`, needs);
  const { binary = {}, npx, uvx } = distribution;
  if (!isObject(binary))
    throw new ProgramConfigError(`${where}.distribution.binary must be an object`);
  const { mcpServers = [] } = entry;
  if (!Array.isArray(mcpServers) || !mcpServers.every(isObject)) {
    throw new ProgramConfigError(`${where}.mcpServers must be a list of objects`);
  }
  return {
    id,
    name: textAt(entry, 'name') ?? id,
    version: textAt(entry, 'version') ?? '',
    description: textAt(entry, 'description') ?? '',
    npx: part('npx', npx, 'package'),
    uvx: part('uvx', uvx, 'package'),
    binary: new Map(
      Object.entries(binary).map(([target, value]) => [
        target,
        parseRunnable(value, `${where}.distribution.binary.${target}`, 'cmd'),
      ]),
    ),
    mcpServers,
  };
}

function parseRunnable(value: unknown, where: string, needs: 'package' | 'cmd'): Runnable {
  if (!isObject(value)) throw new ProgramConfigError(`${where} must be an object`);
  if (textAt(value, needs) === undefined) {
    throw new ProgramConfigError(`${where}.${needs} must be a string`);
  }
  const { args = [], env = {} } = value;
  if (!Array.isArray(args) || !args.every((one) => typeof one === 'string')) {
    throw new ProgramConfigError(`${where}.args must be a list of strings`);
  }
  if (!isObject(env) || !Object.values(env).every((one) => typeof one === 'string')) {
    throw new ProgramConfigError(`${where}.env must be an object of strings`);
  }
  return {
    package: textAt(value, 'package') ?? null,
    cmd: textAt(value, 'cmd') ?? null,
    archive: textAt(value, 'archive') ?? null,
    args,
    env: env as Record<string, string>,
  };
}

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What to do when it does not start. */
  readonly remedy: string;
}

/** npx before uvx before binary; null when there is nothing for this platform. */
export function launchOf(
  agent: RegistryAgent,
  binariesDir: string | null,
  target: string = platformTarget(),
): Launch | null {
  const { npx, uvx } = agent;
  if (npx !== null) {
    const named =
      npx.cmd === null ? [npx.package ?? ''] : ['--package', npx.package ?? '', npx.cmd];
    const args = ['-y', ...named, ...npx.args];
    return { command: 'npx', args, env: npx.env, remedy: 'install Node, which brings npx' };
  }
  if (uvx !== null) {
    const named = uvx.cmd === null ? [uvx.package ?? ''] : ['--from', uvx.package ?? '', uvx.cmd];
    const args = [...named, ...uvx.args];
    return { command: 'uvx', args, env: uvx.env, remedy: 'install uv, which brings uvx' };
  }
  const binary = agent.binary.get(target);
  if (binary === undefined) return null;
  const { cmd, archive, args, env } = binary;
  const command = placeOf(cmd ?? '', agent.id, binariesDir);
  const from = archive === null ? 'it' : archive;
  const remedy = `nothing is downloaded here: get ${from}, and unpack it on the PATH or into a folder named ${agent.id} below --binaries`;
  return { command, args, env, remedy };
}

function placeOf(cmd: string, id: string, binariesDir: string | null): string {
  if (isAbsolute(cmd)) return cmd;
  return binariesDir === null ? basename(cmd) : join(binariesDir, id, cmd);
}

const SYSTEMS: Readonly<Record<string, string>> = { win32: 'windows' };
const CHIPS: Readonly<Record<string, string>> = { x64: 'x86_64', arm64: 'aarch64' };

export function platformTarget(system: string = platform(), chip: string = arch()): string {
  return `${SYSTEMS[system] ?? system}-${CHIPS[chip] ?? chip}`;
}
