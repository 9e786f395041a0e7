/**
 * Stands between a vendor and an MCP server on stdio, and writes down who started it and every call
 * of a tool, with its `_meta`. `probe-bridge LOG CACHE PROGRAM ARGS…`; the bytes pass unchanged.
 */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { record } from './probe-record.ts';

const [log = '', cache = '', program = '', ...args] = process.argv.slice(2);
record(log, 'bridge', '');
const child = spawn(program, args, {
  // Its compiled code is kept outside the scene, which it may outlive.
  env: { ...process.env, XDG_CACHE_HOME: cache },
  stdio: ['pipe', 'inherit', 'inherit'],
});
process.stdin.pipe(child.stdin);
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === 'tools/call') record(log, 'request', message.method, message);
});
child.stdin.on('error', () => {});
child.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => child.kill(signal));
}
