/**
 * An MCP server on stdio, no larger than its test: it lists no tools and answers every call as a
 * hook that denies. `hook-tool-server LOG REASON`.
 */
import { createInterface } from 'node:readline';
import { record } from './probe-record.ts';

const [log = '', reason = ''] = process.argv.slice(2);
const denial = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  },
};

record(log, 'bridge', '');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'tools/call') record(log, 'request', method, { params });
  if (id === undefined) return;
  const result = resultOf(method, params?.protocolVersion);
  const answer =
    result === null ? { error: { code: -32601, message: 'not spoken here' } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});

function resultOf(method: string, protocolVersion: unknown): object | null {
  if (method === 'tools/list') return { tools: [] };
  if (method === 'tools/call') {
    return { content: [{ type: 'text', text: JSON.stringify(denial) }] };
  }
  if (method !== 'initialize') return null;
  const serverInfo = { name: 'hook-tool-server', version: '0' };
  return { protocolVersion, capabilities: { tools: {} }, serverInfo };
}
