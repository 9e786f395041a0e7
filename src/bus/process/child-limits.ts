/**
 * Bounds on a child, put on it by the system before its program begins, and inherited by all that it
 * starts: open files, processor time, and a ceiling for memory. What the system counts for each process
 * alone, whoever watches counts for all of them together (`measure.ts`) and ends them [SU6].
 *
 * A shell puts them on and then becomes the program, so the number of the process stays. Where there is no
 * POSIX shell nothing is put on, and that is told.
 */

export interface ChildLimits {
  /** Megabytes that all processes hold together. */
  readonly memory_mb?: number;
  /** Seconds of processor time, of all processes together. */
  readonly cpu?: number;
  /** Files that one process has open. */
  readonly files?: number;
  /** Seconds after which it is ended. */
  readonly wall?: number;
}

/** The name of the shell that is about to become the program: while it is there, the program is not. */
const SHELL_NAME = 'synod-limits';

/**
 * Of what one process can ask for, beyond what it may hold: a runtime maps more than it ever uses, and is
 * not to be told so. It is a ceiling for the moment between two looks.
 */
const MAPPED_TIMES = 2;
const MAPPED_MORE_MB = 512;
/** Between the signal that says so and the one that cannot be refused. */
const CPU_GRACE_S = 5;

const SCRIPT = [
  'set -e',
  'files=$1 soft=$2 hard=$3 data=$4',
  'shift 4',
  'ulimit -c 0',
  '[ "$files" = - ] || ulimit -n "$files"',
  '[ "$soft" = - ] || { ulimit -S -t "$soft"; ulimit -H -t "$hard"; }',
  '[ "$data" = - ] || ulimit -d "$data"',
  'exec "$@"',
].join('\n');

/** The command that starts the program within the limits; the program's own when there is nothing to put on. */
export function limitedCommand(
  argv: readonly string[],
  { files, cpu, memory_mb: memory }: ChildLimits,
): readonly string[] {
  const isNone = files === undefined && cpu === undefined && memory === undefined;
  if (isNone || process.platform === 'win32') return argv;
  const word = (value: number | undefined): string =>
    value === undefined ? '-' : String(Math.ceil(value));
  const hard = cpu === undefined ? undefined : cpu + CPU_GRACE_S;
  const data = memory === undefined ? undefined : (memory * MAPPED_TIMES + MAPPED_MORE_MB) * 1_024;
  const bounds = [files, cpu, hard, data].map(word);
  return ['/bin/sh', '-c', SCRIPT, SHELL_NAME, ...bounds, ...argv];
}

/** Whether a process, by the command line the system shows, is still the shell that puts limits on. */
export function isPuttingLimits(commandLine: string): boolean {
  const [, , , name] = commandLine.split('\0');
  return name === SHELL_NAME;
}
