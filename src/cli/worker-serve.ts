/** How a worker of the box is run on its pipes: until its input ends. */
import type { Command } from 'commander';
import type { LineIo } from '../bus/programs/stdio-lines.ts';
import { handle } from './context.ts';

/** Runs until the input has ended; whatever a library still holds open then does not keep us. */
export function serve<Flags extends object>(
  command: Command,
  name: string,
  run: (io: LineIo, flags: Flags) => Promise<void>,
): void {
  handle<Flags>(command, async ({ flags }) => {
    const { processIo } = await import('../bus/programs/stdio-lines.ts');
    await run(processIo(name), flags);
    process.exit(0);
  });
}

export async function version(): Promise<string> {
  return (await import('../server/run/version.ts')).packageVersion();
}
