/**
 * Bodies of a megabyte at every door at once: each is answered, and whoever asks for something small is answered
 * between two of them.
 */
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { openRpcSocket, type RpcSocket } from '../e2e/rpc-socket.ts';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';

const CROWD = 16;
const TEXT = 'x'.repeat(1024 * 1024 - 64);
let hub: RunningHub;
const closers: (() => void)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await hub.close();
});

async function open(agent: string): Promise<RpcSocket> {
  const socket = await openRpcSocket(hub.url, hub.as(agent));
  closers.push(() => socket.ws.terminate());
  return socket;
}

/** Settles with the first line of the answer. */
function post(path: string, agent: string, body: string): Promise<string> {
  const { hostname, port } = new URL(hub.url);
  const socket = connect(Number(port), hostname);
  closers.push(() => socket.destroy());
  const headers = {
    ...{ host: `${hostname}:${port}`, 'content-type': 'application/json' },
    ...{ accept: 'application/json, text/event-stream', 'content-length': body.length },
    ...hub.as(agent),
  };
  const head = Object.entries(headers).map(([name, said]) => `${name}: ${said}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  return new Promise((resolve) => {
    socket.once('data', (bytes: Buffer) => resolve(bytes.toString().split('\r\n')[0] ?? ''));
  });
}

test('[SV7] whoever asks for something small is answered between bodies of a megabyte, and all of them are stored', async () => {
  hub = await openRunningHub();
  const quiet = await open('quiet');
  const loud = await Promise.all(Array.from({ length: CROWD }, (_, n) => open(`loud-${n}`)));
  // What answers MCP is loaded with the first request.
  await post('/mcp', 'early', '{}');
  const message = { channel: 'large', body: { text: TEXT } };
  const tool = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'channels__send', arguments: message },
  };
  let answered = 0;
  const count = <T>(answer: T): T => {
    answered++;
    return answer;
  };
  const [ops, mcp] = [JSON.stringify(message), JSON.stringify(tool)];
  const answers = loud.flatMap((socket, n) => [
    post('/v1/ops/send', `http-${n}`, ops).then(count),
    post('/mcp', `mcp-${n}`, mcp).then(count),
    socket.ask('channels.send', message).then(count),
  ]);
  const seen: number[] = [];
  while (answered < answers.length) {
    await quiet.ask('channels.send', { channel: 'few', body: { text: 'well?' } });
    seen.push(answered);
  }
  // A trip of its own takes a few turns of the event loop, and each has room for one of them.
  const steps = seen.map((now, i) => now - (seen[i - 1] ?? 0));
  expect(Math.max(...steps)).toBeLessThan(answers.length / 4);
  for (const answer of await Promise.all(answers)) {
    if (typeof answer === 'string') expect(answer).toBe('HTTP/1.1 200 OK');
    else expect(answer).toHaveProperty('message_id');
  }
}, 60_000);
