/**
 * A worker as most are written: a line in, a line out, one write each. What the bus is compared with
 * a bare pipe by, beside the worker in the box, which gathers its writes and so is three times as fast.
 */
import { createInterface } from 'node:readline';

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, sessionId, method, params = {} } = JSON.parse(line);
  const result = { echo: params, method, timestamp: new Date().toISOString() };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, sessionId, result })}\n`);
});
