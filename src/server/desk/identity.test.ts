/** Who is who: the owner's credential, tokens and their ends, kinds, the owner's socket, open mode. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/e2e/deadline.ts';
import { openRpcSocket } from '../../../test/e2e/rpc-socket.ts';
import {
  fetchReply,
  type Headers,
  type Json,
  openRunningHub,
  type Reply,
  type RunningHub,
} from '../../../test/e2e/running-hub.ts';

let hub: RunningHub;
const secrets: string[] = [];
const answers: string[] = [];
beforeAll(async () => {
  hub = await openRunningHub();
});
afterAll(() => hub.close());

const whoami = async (headers: Headers): Promise<Reply> => {
  const reply = await hub.post('whoami', {}, headers);
  answers.push(reply.text);
  return reply;
};
const bearer = (token: string, more: Headers = {}): Headers => ({
  authorization: `Bearer ${token}`,
  ...more,
});
async function createToken(input: object, space?: string): Promise<Json> {
  const made = await hub.admin('tokens_create', input, space);
  secrets.push(made.token.split('.').at(-1));
  return made;
}

describe('the owner', () => {
  test('[I7] is an administrator by the credential alone, and any agent it names', async () => {
    expect((await whoami(bearer(hub.owner))).body).toMatchObject({
      agent_id: 'owner',
      kind: 'admin',
      tier: 'owner',
    });
    const named = bearer(hub.owner, { 'x-sox-agent-id': 'ada' });
    expect((await whoami(named)).body).toMatchObject({ agent_id: 'ada', kind: 'agent' });
    expect((await hub.post('tokens_list', {}, named)).status).toBe(403);
    const raised = { ...named, 'x-synod-owner': '1' };
    expect((await whoami(raised)).body).toMatchObject({ agent_id: 'ada', kind: 'admin' });
    expect((await hub.post('tokens_list', {}, raised)).status).toBe(200);
  });

  test('[I7] is a person where a program of theirs says so, and no token is', async () => {
    const person = { 'x-sox-agent-id': 'ada', 'x-synod-person': '1' };
    const owner = await whoami(bearer(hub.owner, person));
    expect(owner.body).toMatchObject({ agent_id: 'ada', kind: 'human', tier: 'owner' });
    expect((await hub.post('tokens_list', {}, bearer(hub.owner, person))).status).toBe(403);
    const { token } = await createToken({ agent_id: 'ada', kind: 'agent' });
    expect((await whoami(bearer(token, person))).body).toMatchObject({ kind: 'agent' });
  });

  test('[I2] does not lend a name that no agent may have', async () => {
    for (const name of ['__server__', 'a~b', 'a b', 'x'.repeat(129), 'a*']) {
      const { status, body } = await whoami(bearer(hub.owner, { 'x-sox-agent-id': name }));
      expect([name, status, body.detail.reason]).toEqual([name, 400, 'agent.name-invalid']);
    }
  });

  test('[I7] needs no credential at the Unix socket, which nobody else may open', async () => {
    expect((await stat(hub.socketPath)).mode & 0o777).toBe(0o600);
    const { status, text } = await fetchReply('http://anything/v1/ops/whoami', {
      method: 'POST',
      socketPath: hub.socketPath,
      headers: { 'x-sox-agent-id': 'local' },
      body: '{}',
    });
    expect([status, JSON.parse(text).agent_id]).toEqual([200, 'local']);
    // A web page has no business there either.
    const page = await fetchReply('http://anything/v1/ops/whoami', {
      method: 'POST',
      socketPath: hub.socketPath,
      headers: { origin: 'https://evil.example' },
      body: '{}',
    });
    expect(page.status).toBe(403);
  });

  test('[I7] keeps what is its own to itself: directory 0700, files 0600', async () => {
    expect((await stat(hub.dir)).mode & 0o777).toBe(0o700);
    const files = await readdir(hub.dir, { recursive: true, withFileTypes: true });
    for (const file of files) {
      const { mode } = await stat(join(file.parentPath, file.name));
      const wanted = file.isDirectory() ? 0o700 : 0o600;
      expect([file.name, (mode & 0o777).toString(8)]).toEqual([file.name, wanted.toString(8)]);
    }
  });
});

describe('tokens', () => {
  test('[I5] open what they are for until they are rotated or revoked', async () => {
    const { token, token_id, ...view } = await createToken({ agent_id: 'carl', label: 'laptop' });
    expect(view).toMatchObject({
      agent_id: 'carl',
      kind: 'agent',
      tier: 'standard',
      label: 'laptop',
      created_by: 'owner',
      expires_at: null,
      revoked_at: null,
    });
    expect((await whoami(bearer(token))).body).toMatchObject({ agent_id: 'carl', kind: 'agent' });
    expect((await whoami(bearer(token, { 'x-sox-agent-id': 'carl' }))).status).toBe(200);
    const rotated = await hub.admin('tokens_rotate', { token_id });
    secrets.push(rotated.token.split('.').at(-1));
    expect((await whoami(bearer(token))).status).toBe(401);
    expect((await whoami(bearer(rotated.token))).status).toBe(200);
    await hub.admin('tokens_revoke', { token_id });
    expect((await whoami(bearer(rotated.token))).status).toBe(401);
    const again = await hub.post('tokens_revoke', { token_id }, bearer(hub.owner));
    expect(again.body.detail.reason).toBe('token.not-found');
    const { tokens } = await hub.admin('tokens_list');
    expect(tokens.find((one: Json) => one.token_id === token_id).revoked_at).toBeGreaterThan(0);
  });

  test('[I3] unknown, revoked, expired, of another agent or space: one and the same refusal', async () => {
    const revoked = await createToken({ agent_id: 'gone' });
    await hub.admin('tokens_revoke', { token_id: revoked.token_id });
    const live = await createToken({ agent_id: 'live' });
    const brief = await createToken({ agent_id: 'brief', ttl: 1 });
    await until(
      'the token expires',
      () => whoami(bearer(brief.token)),
      ({ status }) => status === 401,
    );
    const [start] = live.token.split(/(?<=\.)[^.]+$/);
    const texts = new Set<string>();
    for (const headers of [
      {},
      bearer('nonsense'),
      bearer('own_wrong'),
      bearer('syn_default.000000000000.x'),
      bearer('syn_nowhere.000000000000.x'),
      bearer('syn_..'),
      bearer(`${start}wrong`),
      bearer(revoked.token),
      bearer(brief.token),
      bearer(live.token, { 'x-sox-agent-id': 'carl' }),
      bearer(live.token, { 'x-sox-namespace': 'other' }),
      { 'x-sox-agent-id': 'live' },
      { authorization: `Basic ${live.token}` },
    ]) {
      const { status, text, headers: sent } = await whoami(headers);
      expect([status, sent['www-authenticate']]).toEqual([401, 'Bearer']);
      texts.add(text);
    }
    expect(texts.size).toBe(1);
    expect([...texts][0]).toContain('identity_failure');
  });

  test('[I8] an observer reads and never writes, a person reviews, an administrator administers', async () => {
    const may = async (kind: string, operation: string, input: object): Promise<number> => {
      const { token } = await createToken({ agent_id: `the-${kind}`, kind });
      return (await hub.post(operation, input, bearer(token))).status;
    };
    const asked: [string, object][] = [
      ['list_channels', {}],
      ['send', { channel: 'kinds', body: {} }],
      ['held_list', {}],
      ['tokens_list', {}],
    ];
    const allowed: Record<string, number[]> = {
      observer: [200, 403, 403, 403],
      agent: [200, 200, 403, 403],
      human: [200, 200, 200, 403],
      admin: [200, 200, 200, 200],
    };
    for (const [kind, statuses] of Object.entries(allowed)) {
      const got = [];
      for (const [operation, input] of asked) got.push(await may(kind, operation, input));
      expect([kind, ...got]).toEqual([kind, ...statuses]);
    }
    const { token } = await createToken({ agent_id: 'eye', kind: 'observer' });
    const eye = await openRpcSocket(hub.url, bearer(token));
    await eye.ask('stream.open', { channels: ['kinds'] });
    await hub.ask('bob', 'send', { channel: 'kinds', body: { n: 1 } });
    expect((await eye.next('message')).body).toEqual({ n: 1 });
    expect((await eye.call('channels.send', { channel: 'kinds', body: {} })).error.code).toBe(
      -32_001,
    );
    await eye.close();
  });

  test('[I1] the sender of a message is who authenticated, whatever the message says', async () => {
    const { token } = await createToken({ agent_id: 'honest' });
    await hub.ask('ada', 'subscribe', { pattern: 'who' });
    const input = { channel: 'who', body: { sender: 'owner', agent_id: 'owner' } };
    await hub.post('send', input, bearer(token));
    const { messages } = await hub.ask('ada', 'recv');
    expect(messages[0].sender).toBe('honest');
    const forged = await hub.post('send', { ...input, sender: 'owner' }, bearer(token));
    expect(forged.status).toBe(400);
  });

  test('[I4] no secret is stored, answered or logged anywhere', async () => {
    await hub.ask('ada', 'send', { channel: 'end', body: {} });
    secrets.push(hub.owner);
    const files = await readdir(hub.dir, { recursive: true, withFileTypes: true });
    const stored = [];
    for (const file of files) {
      if (!file.isFile() || file.name === 'credential') continue;
      stored.push(await readFile(join(file.parentPath, file.name), 'latin1'));
    }
    const listed = JSON.stringify(await hub.admin('tokens_list'));
    const everything = [...stored, ...answers, ...hub.log, listed].join('\n');
    expect(stored.join('').length).toBeGreaterThan(10_000);
    expect(secrets.length).toBeGreaterThan(5);
    for (const secret of secrets) expect(everything.includes(secret)).toBe(false);
  });
});

describe('refusals on the record', () => {
  test('[L4] who was turned away is in the log, and knocking cannot fill it', async () => {
    const strict = await openRunningHub();
    const entries = async (): Promise<number> => (await strict.ask('w', 'status')).entries;
    const before = await entries();
    await strict.post('whoami', {}, bearer('wrong', { 'x-sox-agent-id': 'mallory' }));
    expect(await entries()).toBe(before + 1);
    const startedAt = performance.now();
    await Promise.all(
      Array.from({ length: 300 }, () => strict.post('whoami', {}, bearer('wrong'))),
    );
    const seconds = Math.floor((performance.now() - startedAt) / 1000) + 2;
    expect((await entries()) - before).toBeLessThanOrEqual(20 * seconds);
    const spaces = join(strict.dir, 'spaces');
    const bytes = await Promise.all(
      (await readdir(spaces)).map((name) => readFile(join(spaces, name), 'latin1')),
    );
    expect(bytes.join('')).toContain('authenticate as mallory');
    await strict.close();
  });
});

describe('open mode', () => {
  test('[I9] takes names at their word, and with a list only those on it, each in its home', async () => {
    const open = await openRunningHub({
      flags: { auth: 'open' },
      file: { agents: [{ id: 'ada' }, { id: 'bob', namespace: 'lab' }] },
    });
    const ask = (agent: string, more: Headers = {}) =>
      open.post('whoami', {}, { 'x-sox-agent-id': agent, ...more });
    expect((await ask('ada')).body).toMatchObject({ agent_id: 'ada', space: 'default' });
    expect((await ask('bob')).body).toMatchObject({ agent_id: 'bob', space: 'lab' });
    expect((await ask('bob', { 'x-sox-namespace': 'default' })).status).toBe(401);
    expect((await ask('carl')).status).toBe(401);
    expect((await open.post('whoami', {})).status).toBe(401);
    const { status } = await open.post('tokens_list', {}, { 'x-sox-agent-id': 'ada' });
    expect(status).toBe(403);
    await open.close();
  });
});
