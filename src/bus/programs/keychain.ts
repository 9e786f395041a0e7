/**
 * The keychain of the person's system, through the tool that comes with it: `secret-tool` of libsecret, or
 * `security` of macOS. It holds one small secret a file, which seals that file; a secret goes
 * over stdin and stdout, and never stands among the arguments.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, resolve } from 'node:path';
import { ProgramConfigError, quoted, readBounded } from './program-error.ts';

export interface Keychain {
  readonly tool: string;
  /** Null when it holds none. */
  read(path: string): Promise<string | null>;
  write(path: string, secret: string): Promise<void>;
}

const SERVICE = 'synod-agent-logins';
const TOOLS: Readonly<Record<string, string>> = { linux: 'secret-tool', darwin: 'security' };
/** What `security` says of an item that is not there. */
const NOT_FOUND = 44;
/** A person may have to unlock it. */
const ANSWER_MS = 60_000;
const ANSWER_BYTES_MAX = 4_096;

/** Null where there is no such tool on the PATH; whether it answers is seen when it is asked. */
export function findKeychain(
  env: NodeJS.ProcessEnv,
  platform: string = process.platform,
): Keychain | null {
  const tool = TOOLS[platform];
  const path = tool === undefined ? null : onPath(tool, env.PATH ?? '');
  if (tool === undefined || path === null) return null;
  const ask = (args: readonly string[], input = ''): Promise<Answer> => run(path, args, input, env);
  return tool === 'security' ? ofMac(tool, ask) : ofLibsecret(tool, ask);
}

type Ask = (args: readonly string[], input?: string) => Promise<Answer>;

function ofLibsecret(tool: string, ask: Ask): Keychain {
  const attributes = (path: string): string[] => ['service', SERVICE, 'account', accountOf(path)];
  return {
    tool,
    async read(path) {
      const { code, stdout, stderr } = await ask(['lookup', ...attributes(path)]);
      if (code === 0) return stdout.trim() || null;
      // What is not there is no trouble, and it says nothing then.
      if (stderr === '') return null;
      throw trouble(tool, stderr);
    },
    async write(path, secret) {
      const label = `--label=Synod: logins in ${path}`;
      const { code, stderr } = await ask(['store', label, ...attributes(path)], secret);
      if (code !== 0) throw trouble(tool, stderr);
    },
  };
}

function ofMac(tool: string, ask: Ask): Keychain {
  return {
    tool,
    async read(path) {
      const item = ['-s', SERVICE, '-a', accountOf(path), '-w'];
      const { code, stdout, stderr } = await ask(['find-generic-password', ...item]);
      if (code === NOT_FOUND) return null;
      if (code !== 0) throw trouble(tool, stderr);
      return stdout.trim() || null;
    },
    async write(path, secret) {
      // Read from stdin as a command: an argument is seen by every process of the machine.
      const command = `add-generic-password -U -s ${SERVICE} -a ${accountOf(path)} -w ${secret}\n`;
      const { code, stderr } = await ask(['-i'], command);
      if (code !== 0 || stderr !== '') throw trouble(tool, stderr);
    },
  };
}

/** One word, whatever the path is. */
function accountOf(path: string): string {
  return createHash('sha256').update(resolve(path)).digest('hex').slice(0, 32);
}

function trouble(tool: string, said: string): ProgramConfigError {
  return new ProgramConfigError(`the keychain did not answer ${tool}: ${quoted(said.trim())}`);
}

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(
  path: string,
  args: readonly string[],
  input: string,
  env: NodeJS.ProcessEnv,
): Promise<Answer> {
  const child = spawn(path, args, { env, stdio: 'pipe', timeout: ANSWER_MS });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const tooLong = (): Error => {
    child.kill();
    return new ProgramConfigError(`${path} said more than a secret`);
  };
  const read = (from: NodeJS.ReadableStream): Promise<string> =>
    readBounded(from as AsyncIterable<Uint8Array>, ANSWER_BYTES_MAX, tooLong);
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'close') as Promise<[number | null]>,
    read(child.stdout),
    read(child.stderr),
  ]);
  return { code, stdout, stderr: code === null ? 'it was ended: no answer in time' : stderr };
}

function onPath(tool: string, path: string): string | null {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const file = resolve(folder, tool);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this one.
    }
  }
  return null;
}
