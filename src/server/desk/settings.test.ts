/** Rules an administrator lays down, seen from the door: types, backpressure, idempotency, spaces, versions. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

describe('typed channels', () => {
  const schema = {
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'integer' } },
    additionalProperties: false,
  };

  test('[T1] a body that does not fit is refused with every violation, and takes no seq', async () => {
    await hub.admin('channels_configure', { channel: 'typed', schema });
    const bad = await hub.post('send', { channel: 'typed', body: { n: 'x', m: 1 } }, hub.as('bob'));
    expect([bad.status, bad.body.error_code]).toEqual([400, 'validation_error']);
    const fields = bad.body.detail.violations.map((one: Json) => one.field);
    expect(fields.sort()).toEqual(['body.m', 'body.n']);
    expect((await hub.ask('bob', 'send', { channel: 'typed', body: { n: 1 } })).seq).toBe(1);
    await hub.admin('channels_configure', { channel: 'typed', schema: null });
    expect((await hub.ask('bob', 'send', { channel: 'typed', body: {} })).seq).toBe(2);
  });

  test('[T1] what is no schema is refused, however deep it is', async () => {
    const before = await hub.mark();
    const headers = { authorization: `Bearer ${hub.owner}` };
    const configure = (schemaText: string) =>
      hub.post('channels_configure', `{"channel":"typed","schema":${schemaText}}`, headers);
    const depth = 20_000;
    const deep = `${'{"not":'.repeat(depth)}{}${'}'.repeat(depth)}`;
    for (const text of ['{"type":"nonsense"}', '{"$ref":"#/nowhere"}', '7', deep]) {
      const { status, body } = await configure(text);
      expect([status, body.error_code]).toEqual([400, 'validation_error']);
    }
    expect(await hub.mark()).toBe(before);
  });

  test('[T2] with typed channels only, a channel that is not registered does not exist', async () => {
    const strict = await openRunningHub({ file: { typed_channels: { orders: schema } } });
    expect((await strict.ask('bob', 'send', { channel: 'orders', body: { n: 1 } })).seq).toBe(1);
    const { status, body } = await strict.post(
      'send',
      { channel: 'x', body: {} },
      strict.as('bob'),
    );
    expect([status, body.error_code]).toEqual([404, 'channel_not_found']);
    await strict.close();
  });
});

describe('backpressure', () => {
  test('[B1] [B3] enforced: at the limit nothing is stored; drained, the channel takes more', async () => {
    const channel = 'full';
    await hub.admin('channels_configure', {
      channel,
      backpressure_mode: 'enforced',
      queue_limit: 2,
    });
    await hub.ask('ada', 'subscribe', { pattern: channel });
    await hub.ask('bob', 'send', { channel, body: {} });
    await hub.ask('bob', 'send', { channel, body: {} });
    const before = await hub.mark();
    const over = await hub.post('send', { channel, body: {} }, hub.as('bob'));
    expect([over.status, over.body.error_code]).toEqual([429, 'backpressure_over_limit']);
    expect(over.body.detail).toMatchObject({ queue_depth: 2, threshold: 2, mode: 'enforced' });
    expect(await hub.mark()).toBe(before);
    await hub.ask('ada', 'recv');
    expect((await hub.ask('bob', 'send', { channel, body: {} })).seq).toBe(3);
  });

  test('[B1] advisory: it only tells, ok, warn, over', async () => {
    const channel = 'told';
    await hub.admin('channels_configure', { channel, queue_limit: 5 });
    const states = [];
    for (let n = 0; n < 7; n++) {
      states.push((await hub.ask('bob', 'send', { channel, body: {} })).backpressure.state);
    }
    expect(states).toEqual(['ok', 'ok', 'ok', 'ok', 'warn', 'over', 'over']);
  });
});

describe('idempotency', () => {
  test('[M4] [M5] a repeated key is the same message, until its time is over', async () => {
    const space = 'keys';
    const send = (body: object, channel = 'once') =>
      hub.ask('bob', 'send', { channel, body, idempotency_key: 'k' }, space);
    await hub.admin('spaces_configure', { idempotency_ttl_ms: 2_000 }, space);
    const first = await send({ n: 1 });
    const before = await hub.mark(space);
    const second = await send({ n: 2 });
    expect(second).toMatchObject({ message_id: first.message_id, seq: 1, sent_at: first.sent_at });
    expect(first).not.toHaveProperty('repeated');
    expect(second.metadata).toEqual({ repeated: true, body_differs: true });
    expect((await send({ n: 1 })).metadata).toEqual({ repeated: true, body_differs: false });
    expect(await hub.mark(space)).toBe(before);
    expect((await send({ n: 3 }, 'other')).message_id).not.toBe(first.message_id);
    const later = await until(
      'the key is forgotten',
      () => send({ n: 4 }),
      ({ seq }) => seq === 2,
    );
    expect(Math.round((later.sent_at - first.sent_at) * 1000)).toBeGreaterThanOrEqual(2_000);
  });
});

test('[M4] a stranger who guessed the key swallows nothing', async () => {
  const key = { channel: 'keyed', idempotency_key: 'build-42' };
  await hub.ask('ada', 'subscribe', { pattern: 'keyed' });
  const theirs = await hub.ask('eve', 'send', { ...key, body: { from: 'eve' } });
  const mine = await hub.ask('bob', 'send', { ...key, body: { from: 'bob' } });
  expect(mine.message_id).not.toBe(theirs.message_id);
  const { messages } = await hub.ask('ada', 'recv', { channels: ['keyed'] });
  expect(messages.map((one: Json) => one.body.from)).toEqual(['eve', 'bob']);
});

describe('spaces', () => {
  test('[SP1] are worlds apart: messages, names, agents, ids and keys', async () => {
    for (const space of ['red', 'blue']) {
      await hub.ask('ada', 'subscribe', { pattern: '*' }, space);
    }
    const sent = await hub.ask('bob', 'send', { channel: 'c', body: { red: 1 } }, 'red');
    expect((await hub.ask('ada', 'recv', {}, 'blue')).messages).toEqual([]);
    expect((await hub.ask('ada', 'recv', {}, 'red')).messages).toHaveLength(1);
    expect((await hub.ask('ada', 'list_channels', {}, 'blue')).channels).toEqual([]);
    const { agents } = await hub.ask('ada', 'list_agents', {}, 'blue');
    expect(agents.map((one: Json) => one.agent_id)).toEqual(['ada']);
    const receipts = await hub.post(
      'receipts_get',
      { message_id: sent.message_id },
      hub.as('bob', 'blue'),
    );
    expect(receipts.status).toBe(404);
    const { token } = await hub.admin('tokens_create', { agent_id: 'carl' }, 'red');
    const headers = { authorization: `Bearer ${token}` };
    expect((await hub.post('whoami', {}, headers)).body.space).toBe('red');
    const wrong = await hub.post('whoami', {}, { ...headers, 'x-sox-namespace': 'blue' });
    expect(wrong.status).toBe(401);
  });

  test('[SP2] a space whose file is damaged is refused by itself; the others go on', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'synod-rotten-'));
    await mkdir(join(dir, 'spaces'));
    await writeFile(join(dir, 'spaces', 'rotten.sqlite'), 'this is no database');
    const sound = await openRunningHub({ dir });
    for (let tries = 0; tries < 2; tries++) {
      const { status, body } = await sound.post('whoami', {}, sound.as('ada', 'rotten'));
      expect([status, body.error_code]).toEqual([503, 'store_unavailable']);
      expect(body.message).not.toContain(dir);
    }
    expect(sound.log.join('\n')).toContain('rotten.sqlite');
    expect((await sound.ask('ada', 'whoami')).space).toBe('default');
    await sound.close();
    await rm(dir, { recursive: true });
  });
});

describe('versions', () => {
  test('[V2] a client of another major version is told at its first question', async () => {
    const list = (version: string) =>
      hub.post('list_channels', {}, { ...hub.as('ada'), 'x-sox-client-version': version });
    for (const version of ['1', '1.0', '1.7']) expect((await list(version)).status).toBe(200);
    for (const version of ['0.1', '2.0', 'new']) {
      const { status, body } = await list(version);
      expect([status, body.error_code]).toEqual([400, 'version_mismatch']);
      expect(body.detail.supported_versions).toEqual(['1.0']);
    }
  });
});
