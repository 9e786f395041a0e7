/** Resources over a running hub: read and watched, over HTTP in every era and through the bridge. */
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { within } from '../../../test/e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';
import { freePort } from '../../../test/free-ports.ts';
import { strangerAt } from '../../client/node/target.ts';
import { isRefusal } from '../../core/law/decider.ts';
import { createHttpCall } from '../../harness/bridge/http-call.ts';
import { createResourceEar } from '../../harness/bridge/http-listen.ts';
import { serveMcpStdio } from '../../harness/bridge/stdio.ts';
import { operationList } from '../operations/table.ts';
import { RESOURCE_CHARS_MAX, RESOURCE_URIS, readResource } from './resources.ts';
import { createMcpTools } from './tools.ts';

type Mode = NonNullable<NonNullable<ClientOptions['versionNegotiation']>['mode']>;

let hub: RunningHub;
const closers: (() => unknown)[] = [];
beforeEach(async () => {
  hub = await openRunningHub();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  await hub.close();
});

async function connect(mode: Mode, headers = hub.as('ada')): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const url = new URL(`${hub.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  closers.push(() => client.close());
  return client;
}

async function readJson(client: Client, uri: string): Promise<Json> {
  const { contents } = await client.readResource({ uri });
  expect(contents).toMatchObject([{ uri, mimeType: 'application/json' }]);
  return JSON.parse((contents[0] as { text: string }).text);
}

/** What a client was told of, in order; `next` waits for one more. */
function updatesOf(client: Client): { readonly uris: string[]; next(uri: string): Promise<void> } {
  const uris: string[] = [];
  const waiting = new Set<(uri: string) => void>();
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    uris.push(params.uri);
    for (const look of [...waiting]) look(params.uri);
  });
  return {
    uris,
    next: (wanted) =>
      within(
        `an update of ${wanted}`,
        new Promise((resolve) => {
          const look = (uri: string): void => {
            if (uri !== wanted) return;
            waiting.delete(look);
            resolve();
          };
          waiting.add(look);
        }),
      ),
  };
}

describe.each(['legacy', 'auto', { pin: '2026-07-28' }] as const)('over HTTP, %j', (mode) => {
  test('[MC10] board, claims and manifest are listed and read as JSON', async () => {
    await hub.ask('bob', 'plan_declare', { task_id: 'api', title: 'The API' });
    await hub.ask('bob', 'claims_take', { task_id: 'api' });
    const client = await connect(mode);
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(RESOURCE_URIS);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain(
      'synod://board{?after}',
    );
    expect(await readJson(client, 'synod://board')).toMatchObject({
      tasks: [{ task_id: 'api', claim: { owner: 'bob' } }],
      next: null,
    });
    expect(await readJson(client, 'synod://claims')).toMatchObject({ claims: [{ owner: 'bob' }] });
    expect(await readJson(client, 'synod://manifest')).toEqual({ cards: [], next: null });
    expect(await readJson(client, 'synod://board?after=api')).toMatchObject({ tasks: [] });
  });

  test('[MC10] what is not there is an error that says what is', async () => {
    const client = await connect(mode);
    for (const uri of [
      'synod://nope',
      'file:///etc/passwd',
      'synod://board?x=1',
      'synod://constructor',
    ]) {
      await expect(client.readResource({ uri })).rejects.toThrow(/synod:\/\/board/);
    }
  });
});

describe('subscriptions over HTTP', () => {
  test('[MC11] a listener hears of what it asked for, in its own space, until its credential is revoked', async () => {
    const { token, token_id } = await hub.admin('tokens_create', { agent_id: 'ada' });
    const client = await connect({ pin: '2026-07-28' }, { authorization: `Bearer ${token}` });
    const updates = updatesOf(client);
    const listening = await client.listen({ resourceSubscriptions: ['synod://claims'] });
    const heard = updates.next('synod://claims');
    await hub.ask('bob', 'claims_take', { task_id: 'elsewhere' }, 'other');
    await hub.ask('bob', 'plan_declare', { task_id: 't', title: 'T' });
    await hub.ask('bob', 'claims_take', { task_id: 'here' });
    await heard;
    expect(new Set(updates.uris)).toEqual(new Set(['synod://claims']));
    await hub.admin('tokens_revoke', { token_id });
    await within('the stream ends', listening.closed);
  });

  test('[MC11] many changes at once are told of once', async () => {
    const client = await connect({ pin: '2026-07-28' });
    const updates = updatesOf(client);
    await client.listen({ resourceSubscriptions: ['synod://board'] });
    const heard = updates.next('synod://board');
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        hub.ask('bob', 'plan_declare', { task_id: `t${n}`, title: 'T' }),
      ),
    );
    await heard;
    // How many windows of time fifty calls take is the machine's affair; one notice each it is not.
    expect(updates.uris.length).toBeLessThan(25);
  });

  test('[MC11] the older era has no stream over HTTP, and does not say it has', async () => {
    const client = await connect('legacy');
    expect(client.getServerCapabilities()?.resources).toEqual({});
  });
});

describe('through the bridge', () => {
  function openBridge(): {
    write(message: object): void;
    next(isWanted: (m: Json) => boolean): Promise<Json>;
    closed: Promise<void>;
    input: PassThrough;
  } {
    const target = { ...strangerAt(hub.url, ''), token: hub.owner, agent: 'ada' };
    const call = createHttpCall({ target });
    const input = new PassThrough();
    const output = new PassThrough();
    const said: Json[] = [];
    let partial = '';
    output.setEncoding('utf8').on('data', (chunk: string) => {
      const parts = (partial + chunk).split('\n');
      partial = parts.pop() ?? '';
      said.push(...parts.map((line) => JSON.parse(line)));
      output.emit('line');
    });
    const served = serveMcpStdio({
      call: call.call,
      ear: (hooks) => createResourceEar(() => call.target, hooks),
      ...{ tools: createMcpTools(operationList), toolset: 'core', version: '1', input, output },
      onError: () => {},
    });
    if (isRefusal(served)) throw new Error(served.message);
    closers.push(async () => {
      await served.close();
      call.close();
    });
    return {
      input,
      closed: served.closed,
      write: (message) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
      async next(isWanted) {
        return within(
          'a line of the bridge',
          (async () => {
            for (;;) {
              const at = said.findIndex(isWanted);
              if (at >= 0) return said.splice(0, at + 1).at(-1);
              await once(output, 'line');
            }
          })(),
        );
      },
    };
  }

  const isUpdate = (uri: string) => (message: Json) =>
    message.method === 'notifications/resources/updated' && message.params.uri === uri;

  const INITIALIZE = {
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    },
  };

  test('[MC12] the older era subscribes, is told, and is told no more once it unsubscribes', async () => {
    const bridge = openBridge();
    bridge.write(INITIALIZE);
    const { result } = await bridge.next(({ id }) => id === 0);
    expect(result.capabilities.resources).toEqual({ subscribe: true });
    bridge.write({ method: 'notifications/initialized' });
    bridge.write({ id: 1, method: 'resources/subscribe', params: { uri: 'synod://claims' } });
    expect(await bridge.next(({ id }) => id === 1)).toMatchObject({ result: {} });
    // The first says: from now on you are told, read what there is.
    await bridge.next(isUpdate('synod://claims'));
    await hub.ask('bob', 'claims_take', { task_id: 'a' });
    await bridge.next(isUpdate('synod://claims'));
    bridge.write({ id: 2, method: 'resources/read', params: { uri: 'synod://claims' } });
    const read = await bridge.next(({ id }) => id === 2);
    expect(JSON.parse(read.result.contents[0].text).claims).toMatchObject([
      { task_id: 'a', owner: 'bob' },
    ]);
    bridge.write({ id: 3, method: 'resources/unsubscribe', params: { uri: 'synod://claims' } });
    bridge.write({ id: 4, method: 'resources/subscribe', params: { uri: 'synod://board' } });
    await bridge.next(({ id }) => id === 4);
    await hub.ask('bob', 'claims_release', { task_id: 'a' });
    const told = await bridge.next(({ method }) => method === 'notifications/resources/updated');
    expect(told.params.uri).toBe('synod://board');
    bridge.write({ id: 5, method: 'resources/subscribe', params: { uri: 'synod://nope' } });
    expect(await bridge.next(({ id }) => id === 5)).toMatchObject({ error: { code: -32_602 } });
  });

  test('[MC12] the newer era listens; the bridge still ends when its input does', async () => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const bridge = openBridge();
    bridge.write({ id: 1, method: 'server/discover', params: { _meta } });
    await bridge.next(({ id }) => id === 1);
    const notifications = { resourceSubscriptions: ['synod://board'] };
    bridge.write({ id: 'l', method: 'subscriptions/listen', params: { _meta, notifications } });
    const acknowledged = 'notifications/subscriptions/acknowledged';
    expect(await bridge.next(({ method }) => method === acknowledged)).toMatchObject({
      params: { notifications },
    });
    await bridge.next(isUpdate('synod://board'));
    await hub.ask('bob', 'plan_declare', { task_id: 't', title: 'T' });
    await bridge.next(isUpdate('synod://board'));
    bridge.input.end();
    await within('the bridge ends', bridge.closed, 2_000);
  });
});

test('[MC12] the ear at the hub opens again after a restart, and then says that everything may have changed', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'synod-ear-'));
  const flags = { port: String(await freePort()) };
  let restarted = await openRunningHub({ dir, flags });
  const { url, owner } = restarted;
  const heard: string[] = [];
  const events = new EventEmitter();
  const target = { ...strangerAt(url, ''), token: owner, agent: 'ada' };
  const ear = createResourceEar(() => target, {
    onReady: () => events.emit('ready'),
    onUpdated: (uri) => {
      heard.push(uri);
      events.emit('updated');
    },
  });
  const ready = once(events, 'ready');
  ear.start();
  await within('the ear is open', ready);
  const again = once(events, 'ready');
  await restarted.close();
  restarted = await openRunningHub({ dir, flags });
  await within('the ear is open again', again);
  const updated = once(events, 'updated');
  await restarted.ask('bob', 'claims_take', { task_id: 'a' });
  await within('it hears', updated);
  expect(RESOURCE_URIS).toEqual(expect.arrayContaining(heard));
  ear.close();
  await restarted.close();
  await rm(dir, { recursive: true });
});

describe('a large resource', () => {
  test('[MC10] is cut at 256 KB, says so, and can be read on to the end', async () => {
    const all = Array.from({ length: 1_000 }, (_, n) => `t${String(n).padStart(4, '0')}`);
    const ask = async (_: unknown, input: unknown) => {
      const { after = '', limit } = input as { after?: string; limit: number };
      const rest = all.filter((id) => id > after);
      const page = rest
        .slice(0, limit)
        .map((task_id) => ({ task_id, description: 'x'.repeat(1_000) }));
      return {
        ok: { tasks: page, totals: {}, next: rest.length > limit ? page.at(-1)?.task_id : null },
      };
    };
    const seen: string[] = [];
    let uri: string | null = 'synod://board';
    for (let reads = 0; uri !== null; reads++) {
      expect(reads).toBeLessThan(10);
      const { contents } = await readResource(uri, ask);
      const { text } = contents[0] as { text: string };
      expect(text.length).toBeLessThanOrEqual(RESOURCE_CHARS_MAX);
      const { tasks, next, note } = JSON.parse(text);
      seen.push(...tasks.map(({ task_id }: Json) => task_id));
      uri = next === null ? null : `synod://board?after=${next}`;
      if (uri !== null) expect(note).toContain(uri);
    }
    expect(seen).toEqual(all);
  });
});
