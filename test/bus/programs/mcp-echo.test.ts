/** The MCP echo server, driven by the official MCP client over real pipes. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killWorkers, SYNOD, startWorker } from './worker-process.ts';

const client = new Client({ name: 'test', version: '1' });
beforeAll(async () => {
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [SYNOD, 'worker', 'mcp-echo'] }),
  );
});
afterAll(async () => {
  await client.close();
  await killWorkers();
});

const call = async (name: string, input: Record<string, unknown>) => {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const [block] = content as { type: string; text: string }[];
  return [block?.text, isError === true];
};

test('[WP21] it echoes, reverses, capitalises, delays and fails', async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['echo', 'reverse', 'uppercase', 'delay', 'error']);
  expect(await call('echo', { text: 'ä' })).toEqual(['ä', false]);
  expect(await call('reverse', { text: 'ab🦊' })).toEqual(['🦊ba', false]);
  expect(await call('uppercase', { text: 'ab' })).toEqual(['AB', false]);
  expect(await call('delay', { text: 'late', ms: 10 })).toEqual(['late', false]);
  expect(await call('error', { message: 'boom' })).toEqual(['boom', true]);
  expect(await call('echo', {})).toEqual(['text must be a string', true]);
  expect((await call('constructor', {}))[1]).toBe(true);
});

test('[WP7] what was asked is answered after the input has ended', async () => {
  const worker = startWorker(['mcp-echo']);
  const hello = {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  worker.send({ jsonrpc: '2.0', id: 1, method: 'initialize', params: hello });
  worker.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  const params = { name: 'delay', arguments: { text: 'late', ms: 200 } };
  worker.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  worker.child.stdin.end();
  expect(await worker.exited()).toBe(0);
  expect((await worker.answer(2)).result.content).toEqual([{ type: 'text', text: 'late' }]);
});
