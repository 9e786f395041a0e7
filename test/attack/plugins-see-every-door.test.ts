/** A plugin that guards reading guards every way to read, and no caller talks itself past it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { manifestOf } from '../../plugins/host-kit.test.fixture.ts';
import { createPluginRegistry } from '../../src/server/plugins/registry.ts';
import { connectSynapse, synapseUrl } from '../conformance/synapse/synapse-client.ts';
import { type AttackedHub, openAttackedHub } from './attacked-hub.ts';

let hub: AttackedHub;
let seen: string[] = [];
let isClosed = false;
beforeAll(async () => {
  const plugins = createPluginRegistry();
  const watch = (context: { operation: string; agent_id: string }, next: () => unknown) => {
    seen.push(`${context.operation} ${context.agent_id}`);
    if (!isClosed) return next();
    return { error: { error_code: 'identity_failure', message: 'closed by a plugin' } };
  };
  // In scope at HTTP alone: the bridge has another plugin.
  const spec = { applies_to: { operations: ['*'], transports: ['http'] } };
  plugins.registerPlugin(
    'io.acme.watch',
    () => watch,
    manifestOf('io.acme.watch', 'interceptor', spec),
  );
  hub = await openAttackedHub({
    flags: { synapse: '0', synapseToken: 'none' },
    hooks: { plugins },
  });
});
afterAll(() => hub.close());
beforeEach(() => {
  seen = [];
  isClosed = false;
});

test('[P24] a stream passes the plugins over WebSocket and SSE, and is refused by them', async () => {
  const socket = await hub.agent.socket();
  await socket.ask('stream.open', { channels: ['*'] });
  (await hub.agent.events('?channels=*')).close();
  expect(seen).toEqual(['stream_open ada', 'stream_open ada']);
  isClosed = true;
  const { error } = await socket.call('stream.open', { channels: ['*'] });
  expect(error.message).toBe('closed by a plugin');
  const events = await hub.agent.events();
  expect((await events.refusal()).message).toBe('closed by a plugin');
  isClosed = false;
  expect((await hub.owned.ask('status')).feeds).toBe(1);
  await socket.close();
});

test('[P24] what the Synapse door shows passes them as the operation it amounts to', async () => {
  const client = await connectSynapse(await synapseUrl(hub.dir), 'syn');
  const asks = [
    ['state_request', 'state_snapshot', 'claims_list'],
    ['board_request', 'board_snapshot', 'plan_board'],
    ['manifest_request', 'manifest_snapshot', 'cards_manifest'],
    ['who_request', 'who_snapshot', 'list_agents'],
    ['history_request', 'history_snapshot', 'replay'],
    ['resume_request', 'resume_snapshot', 'replay'],
  ] as const;
  for (const [type, answer, operation] of asks) {
    seen = [];
    await client.ask({ type }, answer);
    expect([type, seen]).toEqual([type, [`${operation} syn`]]);
  }
  isClosed = true;
  for (const [type] of asks) {
    expect(await client.ask({ type }, 'error')).toMatchObject({
      payload: 'closed by a plugin',
      request_type: type,
    });
  }
  await client.close();
});

test('[P23] a token that says it comes by the bridge is met by the plugins of HTTP all the same', async () => {
  const claim = { ...hub.agent.headers, 'x-sox-transport': 'stdio' };
  await hub.post('list_channels', {}, claim);
  expect(seen).toEqual(['list_channels ada']);
  seen = [];
  await hub.post('list_channels', {}, { ...hub.as('ada'), 'x-sox-transport': 'stdio' });
  expect(seen).toEqual([]);
});
