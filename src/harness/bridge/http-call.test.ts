/** The bridge's way to the hub, against a real HTTP server on a port, on a socket, or not there yet. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { strangerAt, type Target } from '../../client/node/target.ts';
import { createHttpCall, type HttpCallOptions } from './http-call.ts';

const NEVER = new AbortController().signal;
const PLAIN = { clientVersion: null, wantsTrace: false, signal: NEVER };

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(where: number | string, handle: Handle): Promise<Server> {
  const server = createServer(handle);
  server.listen(where as number, ...(typeof where === 'number' ? ['127.0.0.1'] : []));
  await once(server, 'listening');
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return server;
}

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

interface Opened extends Omit<HttpCallOptions, 'target'> {
  readonly url: string;
  readonly who?: Partial<Target>;
}

function open({ url, who, ...options }: Opened) {
  const http = createHttpCall({ ...options, target: { ...strangerAt(url, ''), ...who } });
  opened.push(() => http.close());
  return http.call;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

describe('a call to the hub', () => {
  test('[MC4] carries identity, version, trace and where it came from', async () => {
    const heard: { request: IncomingMessage; body: string }[] = [];
    const server = await listen(0, (request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      request.on('end', () => {
        heard.push({ request, body });
        answer(response, 200, { seq: 1, metadata: { pipeline_trace: [] } });
      });
    });
    const call = open({
      url: `${urlOf(server)}/behind/`,
      who: { token: 'secret', agent: 'ada', space: 'team' },
    });
    const traced = await call(
      'send',
      { channel: 'x' },
      { ...PLAIN, clientVersion: '1.0', wantsTrace: true },
    );
    expect(traced).toEqual({ ok: { seq: 1 }, metadata: { pipeline_trace: [] } });
    expect(heard[0]?.request).toMatchObject({ method: 'POST', url: '/behind/v1/ops/send' });
    expect(heard[0]?.body).toBe('{"channel":"x"}');
    expect(heard[0]?.request.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-sox-agent-id': 'ada',
      'x-sox-namespace': 'team',
      'x-sox-client-version': '1.0',
      'x-sox-trace': '1',
      'x-sox-transport': 'stdio',
    });
    // Nobody asked for a trace, so whatever is called metadata belongs to the answer.
    expect(await call('send', {}, PLAIN)).toEqual({
      ok: { seq: 1, metadata: { pipeline_trace: [] } },
    });
  });

  test('[MC5] brings a refusal back as it is', async () => {
    const envelope = {
      error_code: 'identity_failure',
      message: 'no',
      detail: { reason: 'access.unknown' },
    };
    const server = await listen(0, (_, response) => answer(response, 401, envelope));
    expect(await open({ url: urlOf(server) })('recv', {}, PLAIN)).toEqual({ error: envelope });
  });

  test('[I7] goes by the Unix socket when there is one', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'synod-call-'));
    opened.push(() => rm(dir, { recursive: true }));
    const socketPath = join(dir, 'hub.sock');
    await listen(socketPath, (_, response) => answer(response, 200, { ok: true }));
    const call = open({ url: 'http://127.0.0.1:1', who: { socketPath } });
    expect(await call('whoami', {}, PLAIN)).toEqual({ ok: { ok: true } });
  });

  test('[MC9] a hub that is down is a refusal that says where and how to start it', async () => {
    const server = await listen(0, () => {});
    const url = urlOf(server);
    server.close();
    await once(server, 'close');
    const refused = await open({ url, reachMs: 60 })('send', {}, PLAIN);
    expect(refused).toMatchObject({
      error: {
        error_code: 'store_unavailable',
        message: `no hub is running at ${url}; start it with: synod up`,
        detail: { reason: 'store.unavailable', hub: url },
      },
    });
  });

  test('[MC9] a hub that is not there yet is tried until it is, wherever it then is', async () => {
    let server: Server | undefined;
    const call = open({
      url: 'http://127.0.0.1:1',
      async relocate() {
        server ??= await listen(0, (_, response) => answer(response, 200, { seq: 1 }));
        return strangerAt(urlOf(server), '');
      },
    });
    expect(await call('send', {}, PLAIN)).toEqual({ ok: { seq: 1 } });
  });

  test('[MC14] what is only mentioned starts no hub and looks for none', async () => {
    let isAsked = false;
    const hub = createHttpCall({
      target: strangerAt('http://127.0.0.1:1', ''),
      async relocate() {
        isAsked = true;
        return null;
      },
    });
    expect(await hub.mention('presence_report', {}, PLAIN.signal)).toBe(false);
    expect(isAsked).toBe(false);
    hub.close();
  });

  test('[MC9] a call that has left is never sent twice', async () => {
    let calls = 0;
    const server = await listen(0, (request) => {
      calls += 1;
      request.socket.destroy();
    });
    const refused = await open({ url: urlOf(server) })('send', {}, PLAIN);
    expect(refused).toMatchObject({
      error: {
        error_code: 'store_unavailable',
        message: expect.stringContaining('may have been carried out'),
      },
    });
    expect(calls).toBe(1);
  });

  test('[MC9] what answers without an envelope is no hub', async () => {
    for (const [status, text] of [
      [200, '<html>'],
      [502, '{}'],
      [200, '{"error_code":"x"}'],
    ] as const) {
      const server = await listen(0, (_, response) => response.writeHead(status).end(text));
      expect(await open({ url: urlOf(server) })('send', {}, PLAIN)).toMatchObject({
        error: { error_code: 'store_unavailable' },
      });
    }
  });

  test('[MC7] a cancelled call hangs up, so that the hub hears of it', async () => {
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<ServerResponse>();
    const server = await listen(0, (_, response) => arrive(response));
    const cancel = new AbortController();
    const call = open({ url: urlOf(server) })(
      'recv',
      { wait_ms: 60_000 },
      { ...PLAIN, signal: cancel.signal },
    );
    const response = await arrived;
    const hungUp = once(response, 'close');
    cancel.abort();
    await hungUp;
    expect(await call).toMatchObject({ error: { message: 'the call was cancelled' } });
  });
});
