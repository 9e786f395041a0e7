/** Tools of real MCP servers: one as a child process, one over HTTP. */

import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createGuard } from '../../guard/guard.ts';
import type { Policy } from '../../guard/policy.ts';
import { createIntegrations } from './integrations.ts';
import { type McpConnection, type McpOptions, registerMcp } from './mcp.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const BIN = `${ROOT}bin/synod.js`;
const node = process.execPath;
const args = [BIN, 'worker', 'mcp-echo'];
const asAda = { as: 'ada' };

const opened: McpConnection[] = [];
const servers: HttpServer[] = [];
afterEach(async () => {
  for (const connection of opened.splice(0)) await connection.close();
  for (const server of servers.splice(0)) server.close();
});

function open(policy: Policy) {
  const guard = createGuard(policy, { lookup: async () => ['127.0.0.1'] });
  const all = createIntegrations({ guardOf: (as) => (as === 'ada' ? guard : createGuard({})) });
  const register = async (options: Omit<McpOptions, 'guard'>): Promise<McpConnection> => {
    const connection = await registerMcp(all, { ...options, guard });
    opened.push(connection);
    return connection;
  };
  return { all, register };
}

describe('[IG6] a server that is a program', () => {
  const policy: Policy = { read: [ROOT], execute: [{ program: node, args }] };

  test('[IG6] its tools are called as integrations, by who may execute it', async () => {
    const { all, register } = open(policy);
    const { names, skipped, close } = await register({
      ...{ name: 'echo', server: { program: node, args, cwd: ROOT }, timeoutMs: 10_000 },
    });
    expect([names, skipped]).toEqual([
      ['echo.echo', 'echo.reverse', 'echo.uppercase', 'echo.delay', 'echo.error'],
      [],
    ]);
    const said = await all.invoke('echo.reverse', { text: 'abc' }, asAda);
    expect(said).toEqual([{ type: 'text', text: 'cba' }]);
    await expect(all.invoke('echo.echo', { text: 7 }, asAda)).rejects.toMatchObject({
      code: 'integration.input',
    });
    await expect(all.invoke('echo.echo', { text: 'x' }, { as: 'bob' })).rejects.toMatchObject({
      code: 'integration.refused',
    });
    await expect(all.invoke('echo.error', { message: 'no' }, asAda)).rejects.toMatchObject({
      ...{ code: 'integration.failed', isTerminal: true },
      message: expect.stringContaining('no'),
    });
    await expect(
      all.invoke('echo.delay', { text: 'x', ms: 60_000 }, { as: 'ada', timeoutMs: 50 }),
    ).rejects.toMatchObject({ code: 'integration.timeout' });
    await close();
    expect(all.list()).toEqual([]);
  });

  test('[IG6] one that the guard does not let be executed is not started', async () => {
    const { all, register } = open({ ...policy, execute: [] });
    await expect(
      register({ name: 'echo', server: { program: node, args, cwd: ROOT } }),
    ).rejects.toMatchObject({ code: 'guard.no-rule' });
    expect(all.list()).toEqual([]);
  });
});

describe('[IG6] a server on the network', () => {
  async function serve(name = 'add'): Promise<number> {
    const numbers = { a: z.number(), b: z.number() };
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: 'sums', version: '3.1.0' });
      server.registerTool(
        name,
        { inputSchema: z.object(numbers), outputSchema: z.object({ sum: z.number() }) },
        async ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
      );
      return server;
    });
    const http = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const answer = await handler.fetch(
        new Request(`http://sums.test${request.url}`, {
          method: request.method ?? 'GET',
          headers: request.headers as Record<string, string>,
          ...(body.length > 0 && { body }),
        }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      for await (const chunk of answer.body ?? []) response.write(chunk);
      response.end();
    });
    servers.push(http);
    http.listen(0, '127.0.0.1');
    await once(http, 'listening');
    return (http.address() as AddressInfo).port;
  }
  const to = (port: number, methods: string[]): Policy => ({
    connect: [{ scheme: 'http', host: 'sums.test', port, methods, addresses: ['127.0.0.1'] }],
  });

  test('[IG6] its tools are called, and what comes back is held against their schema', async () => {
    const port = await serve();
    const { all, register } = open(to(port, ['POST', 'GET', 'DELETE']));
    const { names } = await register({
      ...{ name: 'sums', server: { url: `http://sums.test:${port}/mcp` }, only: ['add'] },
    });
    expect(names).toEqual(['sums.add']);
    expect(all.list()[0]).toMatchObject({ name: 'sums.add', version: '3.1.0' });
    expect(await all.invoke('sums.add', { a: 2, b: 3 }, asAda)).toEqual({ sum: 5 });
    await expect(all.invoke('sums.add', { a: 2 }, asAda)).rejects.toMatchObject({
      code: 'integration.input',
    });
    await expect(all.invoke('sums.add', { a: 2, b: 3 }, { as: 'bob' })).rejects.toMatchObject({
      code: 'integration.refused',
    });
  });

  test('[IG6] where the guard does not go, nothing is registered', async () => {
    const port = await serve();
    const { all, register } = open(to(port + 1, ['POST']));
    await expect(
      register({ name: 'sums', server: { url: `http://sums.test:${port}/mcp` } }),
    ).rejects.toThrow();
    expect(all.list()).toEqual([]);
  });

  test('[IG6] a tool that is wanted and not there is an error, and leaves nothing', async () => {
    const port = await serve();
    const { all, register } = open(to(port, ['POST', 'GET', 'DELETE']));
    await expect(
      register({
        ...{ name: 'sums', server: { url: `http://sums.test:${port}/mcp` } },
        only: ['add', 'divide'],
      }),
    ).rejects.toThrow(/sums.divide: the server has no such tool/);
    expect(all.list()).toEqual([]);
  });
});
