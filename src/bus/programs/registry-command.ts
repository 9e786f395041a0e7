/**
 * What `synod worker registry` does besides launching: it looks after the keys file and the logins. A
 * key is read from stdin, never from an argument, and neither key nor token is ever printed.
 */
import { login } from './oauth-login.ts';
import { loginsPath, loginsText, readLogins, writeLogins } from './oauth-logins.ts';
import { PROVIDERS, readProvider } from './oauth-provider.ts';
import { ProgramConfigError } from './program-error.ts';
import { readRegistry } from './registry-file.ts';
import {
  type Keys,
  keysText,
  readKeys,
  withEntries,
  withoutEntry,
  withVariable,
  writeKeys,
} from './registry-keys.ts';

export interface RegistryFiles {
  /** Null when it was not given. */
  readonly registry: string | null;
  readonly customAgents: string | null;
  readonly apiKeys: string;
}

export type KeysCommand =
  | { readonly do: 'auth-status' }
  | { readonly do: 'setup' }
  | { readonly do: 'set-key'; readonly target: string; readonly value: string }
  | { readonly do: 'logout'; readonly agent: string | null }
  | {
      readonly do: 'login';
      readonly provider: string;
      /** Agents that get the token, beside those known to take it. */
      readonly agents: readonly string[];
      readonly env: Readonly<Record<string, string | undefined>>;
      readonly open: (url: string) => void;
    };

/** Answers the lines for the person who asked. */
export async function runKeysCommand(
  files: RegistryFiles,
  command: KeysCommand,
  note: (text: string) => void,
): Promise<readonly string[]> {
  const path = files.apiKeys;
  const keys = await readKeys(path, note);
  switch (command.do) {
    case 'auth-status': {
      const ids = new Set([...(await knownAgents(files)), ...keys.keys()]);
      const logins = await readLogins(loginsPath(path));
      return [...keysText(keys, ids), ...loginsText(logins, Date.now())];
    }
    case 'setup': {
      await writeKeys(path, withEntries(keys, await knownAgents(files)));
      return [`wrote ${path}; put variables under "env", or use --set-key AGENT:VARIABLE`];
    }
    case 'set-key': {
      const [, agent, variable] = /^(.+):([A-Za-z_][A-Za-z0-9_]*)$/.exec(command.target) ?? [];
      if (agent === undefined || variable === undefined) {
        throw new ProgramConfigError('--set-key wants AGENT:VARIABLE');
      }
      const value = command.value.replace(/\r?\n$/, '');
      if (value === '')
        throw new ProgramConfigError('--set-key reads the key from stdin: it was empty');
      await writeKeys(path, withVariable(keys, agent, variable, value));
      return [`${agent} gets ${variable}`];
    }
    case 'logout':
      return logout(path, keys, command.agent);
    case 'login': {
      const { provider: id, env, open } = command;
      const provider = await readProvider(id, env);
      const before = await readLogins(loginsPath(path));
      const tokens = await login(provider, open);
      const agents = [...new Set([...(PROVIDERS[id] ?? []), ...command.agents])];
      const { tokenUrl, clientId, clientSecret } = provider;
      const entry = { ...tokens, tokenUrl, clientId, clientSecret, agents };
      await writeLogins(loginsPath(path), new Map([...before, [id, entry]]));
      return loginsText(new Map([[id, entry]]), Date.now());
    }
  }
}

/** An agent, a provider, or everything. */
async function logout(path: string, keys: Keys, who: string | null): Promise<readonly string[]> {
  const logins = await readLogins(loginsPath(path));
  const left = new Map([...logins].filter(([id]) => who !== null && id !== who));
  if (left.size < logins.size) await writeLogins(loginsPath(path), left);
  if (who !== null && logins.has(who)) return [`removed the login at ${who}`];
  await writeKeys(path, withoutEntry(keys, who));
  return [who === null ? 'removed all keys and logins' : `removed the keys of ${who}`];
}

async function knownAgents({ registry, customAgents }: RegistryFiles): Promise<readonly string[]> {
  if (registry === null) return [];
  return [...(await readRegistry(registry, customAgents)).keys()];
}
