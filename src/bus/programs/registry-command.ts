/**
 * What `synod worker registry` does besides launching: it looks after the keys file. A key is read
 * from stdin, never from an argument, and none is ever printed.
 */
import { ProgramConfigError } from './program-error.ts';
import { readRegistry } from './registry-file.ts';
import {
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
  | { readonly do: 'logout'; readonly agent: string | null };

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
      return keysText(keys, ids);
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
    case 'logout': {
      await writeKeys(path, withoutEntry(keys, command.agent));
      return [command.agent === null ? 'removed all keys' : `removed the keys of ${command.agent}`];
    }
  }
}

async function knownAgents({ registry, customAgents }: RegistryFiles): Promise<readonly string[]> {
  if (registry === null) return [];
  return [...(await readRegistry(registry, customAgents)).keys()];
}
