/**
 * What `synod worker registry` does besides launching: it looks after the keys file and the logins. A
 * key is read from stdin, never from an argument, and neither key nor token is ever printed.
 */
import type { Keychain } from './keychain.ts';
import { type LoginsFile, loginsPath, openLoginsFile } from './logins-file.ts';
import { type LoginRequest, loginsText, makeLogin } from './oauth-logins.ts';
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
import { type Person, runSetup } from './registry-setup.ts';

export interface RegistryFiles {
  /** Null when it was not given. */
  readonly registry: string | null;
  readonly customAgents: string | null;
  readonly apiKeys: string;
  /** Seals the logins; null where none is to be used. */
  readonly keychain: Keychain | null;
}

export type KeysCommand =
  | { readonly do: 'auth-status' }
  | {
      readonly do: 'setup';
      /** Who answers; null where nobody sits at a terminal, and then the file is made to be filled in. */
      readonly person: Person | null;
      readonly env: LoginRequest['env'];
      readonly open: () => LoginRequest['open'];
    }
  | { readonly do: 'set-key'; readonly target: string; readonly value: string }
  | { readonly do: 'logout'; readonly agent: string | null }
  | ({ readonly do: 'login' } & LoginRequest);

/** Answers the lines for the person who asked. */
export async function runKeysCommand(
  files: RegistryFiles,
  command: KeysCommand,
  note: (text: string) => void,
): Promise<readonly string[]> {
  const path = files.apiKeys;
  const keys = await readKeys(path, note);
  const logins = openLoginsFile(loginsPath(path), files.keychain);
  switch (command.do) {
    case 'auth-status': {
      const ids = new Set([...(await knownAgents(files)), ...keys.keys()]);
      const lines = [...keysText(keys, ids), ...loginsText(await logins.read(), Date.now())];
      return lines.length > 0 ? lines : ['no agent has a key or a login; --setup gives them'];
    }
    case 'setup': {
      const known = await knownAgents(files);
      const { person, env, open } = command;
      if (person === null) {
        await writeKeys(path, withEntries(keys, known));
        return [`wrote ${path}; put variables under "env", or use --set-key AGENT:VARIABLE`];
      }
      const write = (kept: Keys): Promise<void> => writeKeys(path, kept);
      await runSetup({ keys, writeKeys: write, logins, env, open, known }, person);
      return runKeysCommand(files, { do: 'auth-status' }, note);
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
      return logout(path, keys, logins, command.agent);
    case 'login': {
      const how = await logins.trySeal();
      const all = await makeLogin(logins, command);
      const made = [...all].filter(([id]) => id === command.provider);
      return [...loginsText(new Map(made), Date.now()), how];
    }
  }
}

/** An agent, a provider, or everything. */
async function logout(
  path: string,
  keys: Keys,
  file: LoginsFile,
  who: string | null,
): Promise<readonly string[]> {
  if (who === null) {
    // Who leaves altogether need not be able to read what is thrown away.
    await file.clear();
    await writeKeys(path, new Map());
    return ['removed all keys and logins'];
  }
  const logins = await file.read();
  if (logins.has(who)) {
    await file.write(new Map([...logins].filter(([id]) => id !== who)));
    return [`removed the login at ${who}`];
  }
  await writeKeys(path, withoutEntry(keys, who));
  return [`removed the keys of ${who}`];
}

async function knownAgents({ registry, customAgents }: RegistryFiles): Promise<readonly string[]> {
  if (registry === null) return [];
  return [...(await readRegistry(registry, customAgents)).keys()];
}
