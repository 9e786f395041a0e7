/**
 * A worker for the hard tests of the bus; what it is good at is said by its first argument.
 *   slow   answers with the digest of what it was given, and rests between two reads
 *   steps  answers after `params.delayMs`; dies in the middle of `params.isFatal`
 *   flood  once asked, writes numbered notifications to the session for as long as they are taken
 */
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

interface Asked {
  readonly id?: unknown;
  readonly sessionId?: string;
  readonly params?: { token?: string; delayMs?: number; isFatal?: boolean; text?: string };
}

const REST_MS = 1;
const FILLER = 'x'.repeat(1_000);

function answer(id: unknown, result: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`;
}

function slow({ id, params = {} }: Asked): void {
  const sha256 = createHash('sha256')
    .update(params.text ?? '')
    .digest('hex');
  process.stdout.write(answer(id, { token: params.token, sha256 }));
}

function steps({ id, params = {} }: Asked): void {
  if (id === undefined) return;
  const line = answer(id, { token: params.token, pid: process.pid });
  if (params.isFatal) {
    writeSync(1, line.slice(0, line.length / 2));
    process.kill(process.pid, 'SIGKILL');
  }
  setTimeout(() => process.stdout.write(line), params.delayMs ?? 0);
}

function flood({ id, sessionId }: Asked): void {
  let n = 0;
  const pour = (): void => {
    for (;;) {
      n += 1;
      const params = { n, FILLER };
      const line = JSON.stringify({ jsonrpc: '2.0', method: 'drop', sessionId, params });
      if (process.stdout.write(`${line}\n`)) continue;
      process.stdout.once('drain', pour);
      return;
    }
  };
  process.stdout.write(answer(id, {}), pour);
}

const take = { slow, steps, flood }[process.argv[2] ?? ''];
if (!take) throw new Error(`no such worker: ${process.argv[2]}`);
createInterface({ input: process.stdin }).on('line', (line) => take(JSON.parse(line)));
if (take === slow) {
  process.stdin.on('data', () => {
    process.stdin.pause();
    setTimeout(() => process.stdin.resume(), REST_MS);
  });
}
