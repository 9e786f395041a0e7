/**
 * The secret of a runner, read when a turn begins: from a file that its owner alone can read, or from
 * what a command prints. It is never an argument, never stored, and never said: a problem names where
 * it was looked for and nothing of what was found [RU10].
 */
import { constants, type FileHandle, open } from 'node:fs/promises';
import { workerEnvironment } from '../../bus/process/environment.ts';
import { type Refusal, refuse } from '../../core/law/decider.ts';
import type { SpecOf } from '../../wire/operations/runner-spec.ts';
import { checkProgram } from './program.ts';
import { startTurnProcess } from './turn-process.ts';

export type Secret = NonNullable<SpecOf<'model'>['secret']>;

const SECRET_BYTES_MAX = 64 * 1024;
const COMMAND_MS = 10_000;

/** Whether it could be read, without reading it: for when a runner is configured. */
export async function checkSecret(source: Secret): Promise<Refusal | null> {
  if ('command' in source) return checkProgram(source.command[0] ?? '', null, 'secret.command');
  const file = await openFile(source.file);
  if ('refused' in file) return file;
  await file.close();
  return null;
}

/** Its first line. `env` is the hub's own; the command gets what a program needs to run. */
export async function readSecret(
  source: Secret,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | Refusal> {
  const text =
    'file' in source
      ? await readFile(source.file)
      : await ask(source.command, workerEnvironment(env, [], {}));
  if (typeof text !== 'string') return text;
  const [line = ''] = text.split('\n');
  const secret = line.trim();
  if (secret !== '') return secret;
  const field = 'file' in source ? 'secret.file' : 'secret.command';
  return refuse('runner.unusable', `${field} gives an empty secret`, { field });
}

async function openFile(path: string): Promise<FileHandle | Refusal> {
  const field = 'secret.file';
  let file: FileHandle;
  try {
    // A pipe that nobody writes to would hold up a thread of the hub for ever.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const message = `the file of the secret, ${path}, cannot be read (${code}); create it, with mode 0600`;
    return refuse('runner.unusable', message, { field });
  }
  // Looked at when it is open, so that it is the file that is read.
  const found = await file.stat();
  const isOthers = process.getuid !== undefined && found.uid !== process.getuid();
  const problem = !found.isFile()
    ? refuse('runner.unusable', `${path} is no file`, { field })
    : isOthers || (found.mode & 0o077) !== 0
      ? refuse(
          'runner.secret-readable',
          `others can read the secret in ${path}: it must belong to the user of the hub and have mode 0600; chmod 600 it`,
          { field },
        )
      : null;
  if (problem === null) return file;
  await file.close();
  return problem;
}

async function readFile(path: string): Promise<string | Refusal> {
  const file = await openFile(path);
  if ('refused' in file) return file;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SECRET_BYTES_MAX));
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

async function ask(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | Refusal> {
  let first: string | null = null;
  const child = startTurnProcess({
    ...{ argv, env, cwd: '/', outputBytesMax: SECRET_BYTES_MAX },
    // Neither its output nor its complaints are anybody's to read: both may hold the secret.
    transcript: { append() {}, hide() {} },
    signal: AbortSignal.timeout(COMMAND_MS),
    onLine(line) {
      first ??= line;
    },
  });
  child.endInput();
  const { problem } = await child.ended;
  if (problem === null) return first ?? '';
  const field = 'secret.command';
  return refuse('runner.unusable', `the command of the secret failed: ${problem}`, { field });
}
