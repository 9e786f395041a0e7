/** An answer read in one go is the answer that was sent, or none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { askInOneGo, isPlain, readTold } from './one-go.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

function socketFor(server: { listen(path: string, on: () => void): unknown; close(): unknown }) {
  const dir = mkdtempSync(join(tmpdir(), 'synod-one-go-'));
  const socketPath = join(dir, 'hub.sock');
  closers.push(() => {
    server.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return new Promise<string>((resolve) => server.listen(socketPath, () => resolve(socketPath)));
}

async function ask(answer: RequestListener, body = '{}', timeoutMs = 20_000) {
  const server: Server = createServer(answer);
  const socketPath = await socketFor(server);
  const headers = { host: 'localhost', 'content-length': Buffer.byteLength(body) };
  return askInOneGo({ socketPath, method: 'POST', path: '/v1/x', headers, body, timeoutMs });
}

test('[CL37] what was asked arrives, and what was answered comes back', async () => {
  const heard: string[] = [];
  const told = await ask((request, response) => {
    request.setEncoding('utf8').on('data', (text) => heard.push(text));
    request.on('end', () => {
      heard.push(`${request.method} ${request.url}`);
      response.writeHead(422, { 'content-length': 9 }).end('{"ü":1}\n');
    });
  }, '{"text":"über"}');
  expect(heard).toEqual(['{"text":"über"}', 'POST /v1/x']);
  expect(told).toEqual({ statusCode: 422, text: '{"ü":1}\n' });
});

test('[CL37] an answer in pieces is put together, however large', async () => {
  const piece = 'ä'.repeat(40_000);
  const told = await ask((_, response) => {
    response.write(piece);
    setImmediate(() => response.end(piece));
  });
  expect(told).toEqual({ statusCode: 200, text: piece + piece });
});

test('[CL37] half an answer, and silence, are failures', async () => {
  const half = ask((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"a":', () => response.destroy());
  });
  await expect(half).rejects.toMatchObject({ code: 'ECONNRESET' });
  await expect(ask((_, response) => response.destroy())).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  await expect(ask(() => {}, '{}', 50)).rejects.toThrow('no answer within 0.05 s');
  const mute = await socketFor(createSocketServer((socket) => socket.end('hello\r\n\r\n')));
  const question = { method: 'GET', path: '/', headers: {}, body: '', timeoutMs: 20_000 };
  await expect(askInOneGo({ ...question, socketPath: mute })).rejects.toMatchObject({
    code: 'ECONNRESET',
  });
  const nobody = join(tmpdir(), 'synod-nobody.sock');
  await expect(askInOneGo({ ...question, socketPath: nobody })).rejects.toMatchObject({
    code: 'ENOENT',
  });
});

test('[CL37] a body in chunks is read by their lengths, and one that is cut off is none', () => {
  const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const read = (body: string) => readTold(Buffer.from(head + body));
  expect(read('3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n')?.text).toBe('abcde');
  expect(read('0\r\n\r\n')?.text).toBe('');
  for (const cut of ['', '3\r\nab', '3\r\nabc\r\n', 'zz\r\nabc\r\n0\r\n\r\n', '3\r\nabc\r\nff']) {
    expect(read(cut)).toBe(null);
  }
});

test('[CL37] a header that could begin another is not written', () => {
  expect(isPlain({ authorization: 'Bearer é', 'content-length': 3 })).toBe(true);
  for (const value of ['a\r\nx: y', 'a\n', 'a\0', 'ж']) expect(isPlain({ value })).toBe(false);
});
