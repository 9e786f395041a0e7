/** Everything on standard input, as text; `-` on the command line asks for it. Bounded. */
import { fail } from './failure.ts';

const STDIN_BYTES_MAX = 4 * 1024 * 1024;

export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > STDIN_BYTES_MAX) {
      throw fail('cli.usage', `standard input holds more than ${STDIN_BYTES_MAX} bytes`);
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
