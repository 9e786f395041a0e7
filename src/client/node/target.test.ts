import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callHub } from './call.ts';
import { headersOf, resolveTarget } from './target.ts';

const URL_OF_HUB = 'http://127.0.0.1:4242';
let dir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'synod-target-'));
  writeFileSync(join(dir, 'credential'), 'own_secret\n');
});
afterEach(() => rmSync(dir, { recursive: true }));

function writeHub(fields: object = {}): void {
  const hub = { url: URL_OF_HUB, socket: null, pid: process.pid, since: 'now', ...fields };
  writeFileSync(join(dir, 'hub.json'), JSON.stringify(hub));
}

describe('[CL3] the owner’s credential', () => {
  test('opens the hub that wrote it', () => {
    writeHub();
    expect(resolveTarget({ dir }, {})).toMatchObject({ token: 'own_secret', socketPath: null });
    expect(resolveTarget({ dir, url: `${URL_OF_HUB}/` }, {}).token).toBe('own_secret');
  });

  test('is not even needed at the socket', () => {
    writeHub({ socket: '/run/hub.sock' });
    expect(resolveTarget({ dir }, {})).toMatchObject({ token: null, socketPath: '/run/hub.sock' });
  });

  test('is never shown to another URL', () => {
    writeHub({ socket: '/run/hub.sock' });
    for (const url of ['http://127.0.0.1:4243', 'https://127.0.0.1:4242', 'http://example.org']) {
      expect(resolveTarget({ dir, url }, {})).toMatchObject({ token: null, socketPath: null });
    }
    expect(resolveTarget({ dir }, { SYNOD_URL: 'http://example.org' }).token).toBe(null);
  });

  test('is not shown to whoever took the port of a dead hub', () => {
    // No process has this number: it is beyond what any kernel gives out.
    writeHub({ pid: 2 ** 30 });
    expect(resolveTarget({ dir }, {}).token).toBe(null);
  });

  test('is shown over TCP once the hub has proved that it knows it, whoever has its number now', async () => {
    const heard: string[] = [];
    const squatter = createServer((request, response) => {
      heard.push(`${request.url} ${request.headers.authorization}`);
      response.end('{"proof":"0000"}');
    });
    squatter.listen(0, '127.0.0.1');
    await once(squatter, 'listening');
    const url = `http://127.0.0.1:${(squatter.address() as AddressInfo).port}`;
    // The number is in use: ours.
    writeHub({ url, pid: process.pid });
    await expect(callHub(resolveTarget({ dir }, {}), 'hub.whoami', {})).rejects.toMatchObject({
      code: 'hub.foreign',
    });
    expect(heard).toEqual([expect.stringMatching(/^\/v1\/proof\?nonce=[0-9a-f]{32} undefined$/)]);
    squatter.close();
  });
});

test('without a hub it says how to start one', () => {
  expect(() => resolveTarget({ dir }, {})).toThrow(`no hub runs from ${dir}`);
  writeFileSync(join(dir, 'hub.json'), '{"url":');
  expect(() => resolveTarget({ dir }, {})).toThrow(`no hub runs from ${dir}`);
});

test('what is not a URL of a hub is a usage error', () => {
  for (const url of ['localhost:1', 'ftp://x', 'nonsense']) {
    expect(() => resolveTarget({ dir, url }, {})).toThrow('is not the URL of a hub');
  }
});

describe('who one is', () => {
  test('[CL20] --as wins over SYNOD_AGENT, it over SOX_AGENT_ID, it over the user', () => {
    writeHub();
    const env = { SYNOD_AGENT: 'b', SOX_AGENT_ID: 'c' };
    expect(resolveTarget({ dir, as: 'a' }, env).agent).toBe('a');
    expect(resolveTarget({ dir }, env).agent).toBe('b');
    expect(resolveTarget({ dir }, { SOX_AGENT_ID: 'c' }).agent).toBe('c');
    // The same for every command, and in chat.
    expect(resolveTarget({ dir }, {}).agent).toBe(userInfo().username);
  });

  test('a token says it by itself', () => {
    writeHub({ socket: '/run/hub.sock' });
    const target = resolveTarget({ dir, token: 'syn_x' }, {});
    expect(target).toMatchObject({ agent: null, socketPath: null });
    expect(headersOf(target)).toEqual({ authorization: 'Bearer syn_x' });
  });

  test('space and client version travel along', () => {
    writeHub();
    const env = { SOX_NAMESPACE: 'red', SOX_CLIENT_VERSION: '1.0' };
    expect(headersOf(resolveTarget({ dir, as: 'a' }, env))).toEqual({
      authorization: 'Bearer own_secret',
      'x-sox-agent-id': 'a',
      'x-sox-namespace': 'red',
      'x-sox-client-version': '1.0',
    });
    expect(resolveTarget({ dir, space: 'blue' }, env).space).toBe('blue');
  });
});

test('[CL12] an empty --as is refused: it would be taken for nobody, that is for the owner', () => {
  expect(() => resolveTarget({ as: '', url: 'http://127.0.0.1:1' }, {})).toThrow('--as is empty');
});

test('[TL10] TRACEPARENT goes along with every call, and what is none stays here', () => {
  writeHub();
  const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(headersOf(resolveTarget({ dir }, { TRACEPARENT }))).toMatchObject({
    traceparent: TRACEPARENT,
  });
  for (const bad of ['', 'x\ny', 'hello']) {
    const headers = headersOf(resolveTarget({ dir }, { TRACEPARENT: bad }));
    expect(headers).not.toHaveProperty('traceparent');
  }
});
