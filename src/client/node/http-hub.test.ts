/** Calls and streams of the Node half, against an HTTP server that answers as told. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../wire/operations/table.ts';
import { callByName, callHub } from './call.ts';
import { type Followed, type FollowOptions, follow } from './follow.ts';
import { strangerAt, type Target } from './target.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function answering(
  answer: (request: IncomingMessage, response: ServerResponse, number: number) => void,
): Promise<Target> {
  let count = 0;
  const server = createServer((request, response) => answer(request, response, count++));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return strangerAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '');
}

describe('a call', () => {
  test('[CL1] of whatever is an administrator’s claims to be the owner’s, and of what an agent does not', async () => {
    const owners: string[] = [];
    const target = await answering((request, response) => {
      if (request.headers['x-synod-owner'] === '1') owners.push(request.url ?? '');
      response.end('{}');
    });
    const ids = Object.values(OPERATIONS).filter(
      ({ access }) => access === 'admin' || access === 'owner' || access === 'person',
    );
    for (const { id, name } of ids) {
      await callByName(target, id, {});
      await callByName(target, name, {});
    }
    const expected = ids.flatMap(({ id, name }) => [`/v1/ops/${id}`, `/v1/ops/${name}`]);
    expect(owners.splice(0)).toEqual(expected);
    for (const force of [false, true]) {
      await callHub(target, 'channels.retire', { channel: 'a', force });
    }
    expect(owners).toEqual(['/v1/ops/channels.retire']);
  });

  test('[CL1] is answered with the output, and only administration claims to be the owner’s', async () => {
    const heard: IncomingMessage[] = [];
    const target = await answering((request, response) => {
      heard.push(request);
      response.end('{"agent_id":"ada","tokens":[]}');
    });
    expect((await callHub(target, 'hub.whoami', {})).agent_id).toBe('ada');
    await callHub(target, 'tokens.list', {});
    expect(heard.map(({ url, headers }) => [url, headers['x-synod-owner']])).toEqual([
      ['/v1/ops/hub.whoami', undefined],
      ['/v1/ops/tokens.list', '1'],
    ]);
  });

  test('[CL1] a refusal is thrown as the hub said it', async () => {
    const target = await answering((_, response) => {
      response.writeHead(409).end('{"error_code":"x","message":"no","detail":{"reason":"a.b"}}');
    });
    await expect(callHub(target, 'hub.status', {})).rejects.toMatchObject({
      ...{ code: 'a.b', soxCode: 'x', message: 'no', detail: { reason: 'a.b' } },
    });
  });

  test.each([
    [200, '<html>'],
    [502, '{}'],
    [200, '{"error_code":"x"}'],
  ])('[CL1] what answers %i with %s is no hub', async (status, text) => {
    const target = await answering((_, response) => response.writeHead(status).end(text));
    await expect(callHub(target, 'hub.status', {})).rejects.toMatchObject({ code: 'hub.foreign' });
  });

  test('[CL1] a hub that is not there says how to start one', async () => {
    await expect(callHub(strangerAt('http://127.0.0.1:1', ''), 'hub.status', {})).rejects.toThrow(
      expect.objectContaining({
        code: 'hub.unreachable',
        detail: { hint: 'start one with "synod up"' },
      }),
    );
  });
});

describe('following', () => {
  async function take(target: Target, count: number, options: Partial<FollowOptions> = {}) {
    const items: Followed[] = [];
    for await (const item of follow(() => target, { from: 'now', ...options })) {
      items.push(item);
      if (items.length === count) break;
    }
    return items;
  }
  const message = (id: number) => `id: ${id}\nevent: message\ndata: {"seq":${id}}\n\n`;

  test('[CL7] a stream that breaks is taken up behind the last message', async () => {
    const asked: string[] = [];
    const target = await answering((request, response, number) => {
      asked.push(request.url ?? '');
      response.writeHead(200).write(': synod, from 3\n\n', () => {
        if (number === 0) response.destroy();
        else response.write(message(number + 4), () => number === 1 && response.end());
      });
    });
    const told: string[] = [];
    const items = await take(target, 2, {
      channels: ['a/*'],
      withReceipts: true,
      onOpen: (isAgain) => told.push(isAgain ? 'again' : 'open'),
      onLost: () => told.push('lost'),
    });
    expect(items).toEqual([{ message: { seq: 5 } }, { message: { seq: 6 } }]);
    expect(told).toEqual(['open', 'lost', 'again', 'lost', 'again']);
    expect(asked.map((url) => new URLSearchParams(url.split('?')[1]).get('from'))).toEqual([
      'now',
      '3',
      '5',
    ]);
    expect(asked[0]).toContain('channel=a%2F*&receipts=1');
  });

  test('[CL7] a token that is revoked ends it, and so does whoever follows', async () => {
    const target = await answering((_, response) => {
      response.writeHead(200).end('event: end\ndata: {"reason":"revoked"}\n\n');
    });
    await expect(take(target, 1)).rejects.toMatchObject({ code: 'access.unknown' });
    const silent = await answering((_, response) => void response.writeHead(200).write(':\n\n'));
    const stop = new AbortController();
    const items = await take(silent, 1, { signal: stop.signal, onOpen: () => stop.abort() });
    expect(items).toEqual([]);
  });

  test('[CL7] a first attempt that fails is told, and not tried again', async () => {
    await expect(take(strangerAt('http://127.0.0.1:1', ''), 1)).rejects.toMatchObject({
      code: 'hub.unreachable',
    });
  });
});
