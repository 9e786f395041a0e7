/**
 * The keys file of the registry launcher: `{version, agents: {<id>: {apiKey, env}}}`. What stands
 * under `env` is put into that agent's environment and nobody else's. It is written for its owner
 * alone, by replacing it whole; its values are never printed.
 */
import { chmod, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { isObject, type JsonObject, parseJson } from '../process/json-object.ts';
import { messageOfError, ProgramConfigError } from './program-error.ts';

export interface AgentKeys {
  readonly apiKey: string;
  readonly env: Readonly<Record<string, string>>;
}

export type Keys = ReadonlyMap<string, AgentKeys>;

const OWNER_ONLY = 0o600;

/** An absent file is an empty one. */
export async function readKeys(path: string, note: (text: string) => void): Promise<Keys> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
    const { mode } = await stat(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      note(`${path} can be read by others; run: chmod 600 ${path}`);
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new ProgramConfigError(`${path} cannot be read: ${messageOfError(cause)}`, { cause });
  }
  return parseKeys(text, path);
}

function parseKeys(text: string, path: string): Keys {
  const value = parseJson(text);
  // Without the parser's own words: they would quote the file.
  if (value === undefined) {
    throw new ProgramConfigError(`${path} is not JSON; mend it, or remove it and run --setup`);
  }
  // The reference's guide shows the agents without the frame that its launcher reads: both will do.
  const agents = isObject(value) && !('agents' in value) ? withoutVersion(value) : objectIn(value);
  if (agents === null) throw new ProgramConfigError(`${path}: agents must be an object`);
  return new Map(
    Object.entries(agents).map(([id, entry]) => {
      const { apiKey = '', env = {} } = isObject(entry) ? entry : {};
      const isMap = isObject(env) && Object.values(env).every((one) => typeof one === 'string');
      if (!isMap || typeof apiKey !== 'string') {
        throw new ProgramConfigError(`${path}: agents.${id} must be {"apiKey": "", "env": {}}`);
      }
      return [id, { apiKey, env: env as Record<string, string> }];
    }),
  );
}

function objectIn(value: unknown): JsonObject | null {
  const agents = isObject(value) ? value.agents : undefined;
  return isObject(agents) ? agents : null;
}

function withoutVersion({ version: _, ...agents }: JsonObject): JsonObject {
  return agents;
}

export function writeKeys(path: string, keys: Keys): Promise<void> {
  const document = { version: 1, agents: Object.fromEntries(keys) };
  return writePrivately(path, `${JSON.stringify(document, null, 2)}\n`);
}

export async function writePrivately(path: string, text: string): Promise<void> {
  const fresh = `${path}.${process.pid}.new`;
  await writeFile(fresh, text, { mode: OWNER_ONLY, flag: 'wx' });
  // The mode above is cut by the umask, never widened; this says it whatever the umask is.
  await chmod(fresh, OWNER_ONLY);
  await rename(fresh, path);
}

/** An entry for every agent that has none yet, for a person to fill in. */
export function withEntries(keys: Keys, ids: Iterable<string>): Keys {
  const filled = new Map(keys);
  for (const id of ids) if (!filled.has(id)) filled.set(id, { apiKey: '', env: {} });
  return filled;
}

export function withVariable(keys: Keys, id: string, name: string, value: string): Keys {
  const { apiKey = '', env = {} } = keys.get(id) ?? {};
  return new Map([...keys, [id, { apiKey, env: { ...env, [name]: value } }]]);
}

/** Without the agent's entry. */
export function withoutEntry(keys: Keys, id: string): Keys {
  return new Map([...keys].filter(([one]) => one !== id));
}

/** Names only. */
export function keysText(keys: Keys, ids: Iterable<string>): readonly string[] {
  return [...ids].map((id) => {
    const { env = {}, apiKey = '' } = keys.get(id) ?? {};
    const names = Object.keys(env);
    if (names.length > 0) return `${id}: ${names.join(', ')}`;
    return apiKey === ''
      ? `${id}: no key; the agent's own login is used`
      : `${id}: an apiKey without a variable, which reaches nobody; name one under env`;
  });
}
