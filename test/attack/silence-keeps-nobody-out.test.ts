/** Connections that say nothing, a page that may not ask, and words that would steer a terminal. */
import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUIET_SOCKETS_MAX } from '../../src/server/doors/quiet-sockets.ts';
import { BIN } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import { fetchReply } from '../e2e/running-hub.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
beforeAll(async () => {
  hub = await openAttackedHub();
});
afterAll(() => hub.close());

test('[SV6] of many silent connections those silent for longest are closed, and others are served', async () => {
  const more = 40;
  let closed = 0;
  const sockets: Socket[] = [];
  // Some say nothing, some half a request, some all but the body.
  const beginnings = ['', 'GET /health HTTP/1.1\r\nhost:', half('POST', 10)];
  for (let i = 0; i < QUIET_SOCKETS_MAX + more; i++) {
    const socket = connect({ port: hub.port, host: '127.0.0.1' });
    socket.on('error', () => {});
    socket.on('close', () => closed++).resume();
    socket.write(beginnings[i % 3] as string);
    sockets.push(socket);
  }
  await until(
    'the ones silent for longest are closed',
    async () => {
      expect((await fetchReply(`${hub.url}/health`)).status).toBe(200);
      return closed;
    },
    (count) => count >= more,
  );
  expect((await hub.agent.ask('whoami')).agent_id).toBe('ada');
  for (const socket of sockets) socket.destroy();
});

function half(method: string, length: number): string {
  return `${method} /v1/ops/send HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;
}

test('[I6] what another site’s page asks for is turned away and leaves nothing in the log', async () => {
  const before = await hub.mark();
  for (const path of ['/v1/stream', '/mcp', '/health', '/v1/hooks/claude/wake?session=s']) {
    for (const site of ['cross-site', 'same-site']) {
      const reply = await fetchReply(`${hub.url}${path}`, { headers: { 'sec-fetch-site': site } });
      expect([path, reply.status]).toEqual([path, 403]);
    }
  }
  expect(await hub.mark()).toBe(before);
  for (const site of ['same-origin', 'none']) {
    const reply = await fetchReply(`${hub.url}/health`, { headers: { 'sec-fetch-site': site } });
    expect(reply.status).toBe(200);
  }
});

test('[CL8] an export shows no character that a terminal obeys, and holds the same values', async () => {
  const text = 'a\u009b31mred\u202eesrever\u2066x\u2028y';
  await hub.agent.ask('send', { channel: 'odd', body: { text } });
  const { stdout } = spawnSync(process.execPath, [BIN, 'log', 'export', '--dir', hub.dir], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: hub.dir },
  });
  expect(stdout).not.toMatch(/[\u0080-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029]/);
  const lines = stdout.split('\n').filter(Boolean);
  const entries = lines.flatMap((line) => JSON.parse(line).entries ?? []).map(String);
  expect(entries.join('')).toContain(text);
});
