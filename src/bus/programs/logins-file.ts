/**
 * The file of logins beside the keys file: its owner's alone, and sealed with a key that the keychain of
 * the system holds wherever there is one that answers. Where there is none it says so, and the mode of
 * the file is all that protects it.
 */
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isObject, parseJson } from '../process/json-object.ts';
import type { Keychain } from './keychain.ts';
import type { OauthTokens } from './oauth-login.ts';
import { messageOfError, ProgramConfigError } from './program-error.ts';
import { writePrivately } from './registry-keys.ts';
import { createKey, isKey, seal, unseal } from './sealed-text.ts';

export interface Login extends OauthTokens {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Who gets the token. */
  readonly agents: readonly string[];
}

export type Logins = ReadonlyMap<string, Login>;

export interface LoginsFile {
  /** An absent file is an empty one. */
  read(): Promise<Logins>;
  /** Sealed if it was, or since `trySeal`. */
  write(logins: Logins): Promise<void>;
  /** Whatever is in it. */
  clear(): Promise<void>;
  /** Has what is written from now on sealed, if the keychain answers; says how it is kept. */
  trySeal(): Promise<string>;
}

export const loginsPath = (apiKeys: string): string => join(dirname(apiKeys), 'agent-logins.json');

export function openLoginsFile(path: string, keychain: Keychain | null): LoginsFile {
  let key: string | null = null;

  async function keyOfFile(): Promise<string> {
    let why = keychain === null ? 'no keychain is used here' : `${keychain.tool} has no such key`;
    try {
      const held = key ?? (await keychain?.read(path)) ?? null;
      if (held !== null && isKey(held)) return held;
    } catch (error) {
      why = messageOfError(error);
    }
    const what = `${path} is sealed with a key of your keychain: ${why}`;
    throw new ProgramConfigError(`${what}; unlock it, or --logout and --login again`);
  }

  return {
    async read() {
      const text = await readText(path);
      if (text === null) return new Map();
      const value = parseJson(text);
      if (!isObject(value) || value.sealed === undefined) return parseLogins(value, path);
      const held = await keyOfFile();
      const opened = unseal(value.sealed, held);
      if (opened === null) {
        throw new ProgramConfigError(
          `${path} does not open with the key of your keychain; --logout and --login again`,
        );
      }
      key = held;
      return parseLogins(parseJson(opened), path);
    },
    async write(logins) {
      const document = { version: 1, logins: Object.fromEntries(logins) };
      const whole =
        key === null ? document : { version: 2, sealed: seal(JSON.stringify(document), key) };
      await writePrivately(path, `${JSON.stringify(whole, null, 2)}\n`);
    },
    clear: () => rm(path, { force: true }),
    async trySeal() {
      const plain = (why: string): string =>
        `kept in ${path}, for your user alone (mode 0600) and not encrypted: ${why}`;
      if (keychain === null) return plain('no keychain is used');
      try {
        const held = key ?? (await keychain.read(path));
        const used = held !== null && isKey(held) ? held : createKey();
        if (used !== held) await keychain.write(path, used);
        key = used;
        return `kept in ${path}, encrypted with a key in your keychain (${keychain.tool})`;
      } catch (error) {
        return plain(messageOfError(error));
      }
    },
  };
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new ProgramConfigError(`${path} cannot be read: ${messageOfError(cause)}`, { cause });
  }
}

function parseLogins(value: unknown, path: string): Logins {
  const logins = isObject(value) ? value.logins : undefined;
  if (!isObject(logins) || !Object.values(logins).every(isLogin)) {
    throw new ProgramConfigError(`${path} is no file of logins; remove it and run --login again`);
  }
  return new Map(Object.entries(logins) as unknown as [string, Login][]);
}

function isLogin(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { accessToken, tokenUrl, clientId, agents } = value;
  const areTexts = [accessToken, tokenUrl, clientId].every((one) => typeof one === 'string');
  return areTexts && Array.isArray(agents) && agents.every((one) => typeof one === 'string');
}
