/** Threads at the door: read, marked, listed, described, digested, and what nobody is shown of them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Json, openRunningHub, type RunningHub } from '../../../../test/e2e/running-hub.ts';

let hub: RunningHub;
let person: { authorization: string };
let stranger: { authorization: string };
beforeAll(async () => {
  hub = await openRunningHub();
  const bearer = async (input: object) =>
    ({ authorization: `Bearer ${(await hub.admin('tokens_create', input)).token}` }) as const;
  person = await bearer({ agent_id: 'hana', kind: 'human' });
  stranger = await bearer({ agent_id: 'mal', tier: 'untrusted' });
});
afterAll(() => hub.close());

async function send(by: string, channel: string, body: object, more: object = {}): Promise<string> {
  return (await hub.ask(by, 'send', { channel, body, ...more })).message_id;
}

/** Status and reason of a refusal. */
async function refused(by: string, operation: string, input: object): Promise<Json[]> {
  const { status, body } = await hub.post(operation, input, hub.as(by));
  return [status, body.detail?.reason];
}

const mark = (by: string, message_id: string, what: string, more: object = {}): Promise<Json> =>
  hub.ask(by, 'threads.mark', { message_id, mark: what, ...more });

const thread = (by: string, message_id: string, more: object = {}): Promise<Json> =>
  hub.ask(by, 'threads.get', { message_id, ...more });

describe('reading', () => {
  test('[TM5] a thread is root, replies in order, their number, marks and a cursor', async () => {
    const root = await send('ada', 'read', { n: 0 });
    const first = await send('bob', 'read', { n: 1 }, { reply_to: root });
    await send('cat', 'read', { n: 'chat' });
    const second = await send('cat', 'read', { n: 2 }, { reply_to: first });
    await mark('ada', second, 'pin');
    const whole = await thread('dan', second);
    expect(whole).toMatchObject({
      thread: { thread_id: root, channel: 'read', state: 'open', pinned: true, reply_count: 2 },
      root: { message_id: root, sender: 'ada', body: { n: 0 } },
      replies: [
        { message_id: first, reply_to: root, standing: 'agent/trusted' },
        { message_id: second, reply_to: first },
      ],
      ...{ next: null, marks_next: null },
      marks: [{ mark: 'pin', by: 'ada', note: null, version: 1 }],
    });
    const page = await thread('dan', root, { limit: 1 });
    expect(page).toMatchObject({ replies: [{ message_id: first }], next: first });
    const rest = await thread('dan', root, { limit: 1, after: page.next });
    expect(rest).toMatchObject({ replies: [{ message_id: second }], next: null });
    expect(await hub.ask('dan', 'messages.get', { message_id: second })).toMatchObject({
      message: { body: { n: 2 }, sender: 'cat' },
      thread_id: root,
    });
    const chat = await send('cat', 'read', { n: 'more' });
    expect(await refused('dan', 'threads.get', { message_id: root, after: chat })).toEqual([
      ...[400, 'input.invalid'],
    ]);
  });

  test('[TM5] a dm or a group of others is refused as an id that nobody has', async () => {
    const dm = await send('ada', 'dm/ada~bob', { secret: 1 });
    const reply = await send('bob', 'dm/ada~bob', { secret: 2 }, { reply_to: dm });
    await hub.ask('ada', 'group.create', { group_id: 'own', id_mode: 'client' });
    const inGroup = await send('ada', 'group/own', { secret: 3 });
    for (const operation of ['messages.get', 'threads.get', 'threads.mark']) {
      for (const headers of [hub.as('eve'), person]) {
        const ask = async (message_id: string): Promise<Json> => {
          const more = operation === 'threads.mark' ? { mark: 'pin' } : {};
          const { status, body } = await hub.post(operation, { message_id, ...more }, headers);
          return [status, JSON.parse(JSON.stringify(body).replaceAll(message_id, 'ID'))];
        };
        const absent = await ask('m999999');
        expect(absent[0]).toBe(404);
        for (const id of [dm, reply, inGroup]) expect(await ask(id)).toEqual(absent);
      }
    }
    expect((await thread('bob', dm)).replies).toHaveLength(1);
    await hub.ask('ada', 'group.remove', { group_id: 'own' });
    expect(await refused('ada', 'messages.get', { message_id: inGroup })).toEqual([
      ...[404, 'message.not-found'],
    ]);
  });

  test('[TM12] what waits for a person or was refused is in no thread and not counted', async () => {
    const root = await send('ada', 'waits', { n: 0 });
    const reply = { channel: 'waits', body: { n: 1 }, reply_to: root };
    const { message_id: held } = (await hub.post('send', reply, stranger)).body;
    const { message_id: bad } = (await hub.post('send', reply, stranger)).body;
    expect(await thread('ada', root)).toMatchObject({ thread: { reply_count: 0 }, replies: [] });
    expect(await refused('ada', 'threads.get', { message_id: held })).toEqual([
      ...[404, 'message.not-found'],
    ]);
    const own = await hub.post('messages.get', { message_id: held }, stranger);
    expect(own.body).toMatchObject({ message: { held: true, body: { n: 1 } }, thread_id: root });
    await hub.admin('held_review', { message_id: held, decision: 'release' });
    await hub.admin('held_review', { message_id: bad, decision: 'refuse' });
    expect(await thread('ada', root)).toMatchObject({
      thread: { reply_count: 1 },
      replies: [{ message_id: held }],
    });
    expect((await hub.ask('ada', 'threads.list', { channel: 'waits' })).threads).toMatchObject([
      { message_id: root, reply_count: 1, last_reply_id: null },
    ]);
  });

  test('[TM12] with its channel a thread is gone, and its messages can still be read', async () => {
    const root = await send('ada', 'gone', { n: 0 });
    const reply = await send('ada', 'gone', { n: 1 }, { reply_to: root });
    await mark('ada', root, 'pin');
    await hub.admin('retire', { channel: 'gone', force: true });
    expect(await refused('ada', 'threads.get', { message_id: root })).toEqual([
      ...[410, 'channel.retired'],
    ]);
    expect(await refused('ada', 'threads.mark', { message_id: root, mark: 'unpin' })).toEqual([
      ...[410, 'channel.retired'],
    ]);
    expect(await hub.ask('ada', 'messages.get', { message_id: reply })).toMatchObject({
      ...{ message: { body: { n: 1 } }, thread_id: null },
    });
    // The name again is another channel [GA3].
    const again = await send('ada', 'gone', { n: 2 });
    expect(await refused('ada', 'send', { channel: 'gone', body: {}, reply_to: root })).toEqual([
      ...[400, 'reply.elsewhere'],
    ]);
    expect(await thread('ada', again)).toMatchObject({ thread: { version: 0, reply_count: 0 } });
  });

  test('[TM5] [RP3] where the past is closed, a thread shows what came since', async () => {
    const root = await send('ada', 'past', { n: 0 });
    await send('ada', 'past', { n: 1 }, { reply_to: root });
    await hub.admin('channels.configure', { channel: 'past', replay_policy: 'admin_only' });
    await hub.ask('late', 'subscribe', { pattern: 'past' });
    const reply = await send('ada', 'past', { n: 2 }, { reply_to: root });
    expect(await thread('late', reply)).toMatchObject({
      root: null,
      replies: [{ body: { n: 2 } }],
    });
    expect(await refused('late', 'messages.get', { message_id: root })).toEqual([
      ...[404, 'message.not-found'],
    ]);
    expect((await hub.ask('late', 'threads.list', { channel: 'past' })).threads).toEqual([]);
    const input = { view: 'recent', channels: ['past'] };
    expect((await hub.ask('late', 'channels.digest', input)).rows).toHaveLength(1);
  });
});

describe('marking', () => {
  test('[TM3] [TM2] open, closed with a note, open again; resolved and pinned besides', async () => {
    const root = await send('ada', 'marks', { n: 0 });
    await mark('ada', root, 'resolve', { note: 'agreed' });
    const closed = await mark('ada', root, 'close', { note: 'done: see m1' });
    expect(closed).toMatchObject({
      thread: { state: 'closed', resolved: true, pinned: false, version: 2 },
      changed: true,
    });
    expect(closed.thread.closed).toMatchObject({ by: 'ada', note: 'done: see m1' });
    await mark('ada', root, 'pin');
    expect((await thread('bob', root)).thread.closed.note).toBe('done: see m1');
    const open = await mark('ada', root, 'reopen', { note: 'not yet' });
    expect(open.thread).toMatchObject({
      state: 'open',
      closed: null,
      resolved: true,
      pinned: true,
    });
    await mark('ada', root, 'unresolve');
    await mark('ada', root, 'unpin');
    const { marks } = await thread('bob', root);
    expect(marks.map((one: Json) => [one.version, one.mark, one.note])).toEqual([
      [6, 'unpin', null],
      [5, 'unresolve', null],
      [4, 'reopen', 'not yet'],
      [3, 'pin', null],
      [2, 'close', 'done: see m1'],
      [1, 'resolve', 'agreed'],
    ]);
  });

  test('[TM3] a note of 1 to 4,096 characters closes, and no other', async () => {
    const root = await send('ada', 'notes', { n: 0 });
    const close = (note: unknown) =>
      refused('ada', 'threads.mark', { message_id: root, mark: 'close', note });
    const before = await hub.mark();
    expect(await close(undefined)).toEqual([400, 'mark.note-needed']);
    expect(await close(' \n ')).toEqual([400, 'mark.note-needed']);
    expect(await close('x'.repeat(4_097))).toEqual([400, 'input.invalid']);
    expect(await close('bell\u0007')).toEqual([400, 'input.invalid']);
    expect(await close(7)).toEqual([400, 'input.invalid']);
    expect(await refused('ada', 'threads.mark', { message_id: root, mark: 'burn' })).toEqual([
      ...[400, 'input.invalid'],
    ]);
    expect(await hub.mark()).toBe(before);
    const long = await mark('ada', root, 'close', { note: 'ü'.repeat(4_096) });
    expect(long.thread.closed.note).toHaveLength(4_096);
  });

  test('[TM1] its author, whom the root names in owners, and people mark; others are on the record', async () => {
    const root = await send('ada', 'mine', { n: 0, owners: ['own', 7] });
    const reply = await send('bob', 'mine', { owners: ['bob'] }, { reply_to: root });
    const before = (await hub.admin('status')).entries;
    expect(await refused('bob', 'threads.mark', { message_id: reply, mark: 'pin' })).toEqual([
      ...[403, 'mark.not-author'],
    ]);
    // The refusal is an entry, and the only one.
    expect((await hub.admin('status')).entries).toBe(before + 1);
    expect((await mark('own', reply, 'pin')).changed).toBe(true);
    const byPerson = { message_id: root, mark: 'resolve' };
    expect((await hub.post('threads.mark', byPerson, person)).body.thread.resolved).toBe(true);
    expect((await hub.admin('threads.mark', { message_id: root, mark: 'unpin' })).changed).toBe(
      true,
    );
    const own = { channel: 'mine', body: {} };
    const held = (await hub.post('send', own, stranger)).body.message_id;
    await hub.admin('held_review', { message_id: held, decision: 'release' });
    const byStranger = await hub.post('threads.mark', { message_id: held, mark: 'pin' }, stranger);
    expect([byStranger.status, byStranger.body.detail.reason]).toEqual([403, 'access.denied']);
  });

  test('[TM4] what changes nothing stores nothing, and so does a repeat under its key', async () => {
    const root = await send('ada', 'twice', { n: 0 });
    const key = { idempotency_key: 'k1' };
    const first = await mark('ada', root, 'pin', key);
    const before = await hub.mark();
    expect(await mark('ada', root, 'pin', key)).toEqual(first);
    expect(await mark('ada', root, 'pin')).toMatchObject({
      changed: false,
      thread: { version: 1 },
    });
    expect(await mark('ada', root, 'reopen')).toMatchObject({ changed: false });
    expect(await hub.mark()).toBe(before);
    await mark('ada', root, 'unpin');
    expect(await mark('ada', root, 'pin', key)).toEqual(first);
    expect((await thread('ada', root)).thread.pinned).toBe(false);
  });

  test('[TM4] of two at once one is first; a version that has passed is refused with how it stands', async () => {
    const root = await send('ada', 'race', { n: 0, owners: ['bob'] });
    const close = (by: string) =>
      hub.post(
        'threads.mark',
        { message_id: root, mark: 'close', note: `by ${by}`, expected_version: 0 },
        hub.as(by),
      );
    const both = await Promise.all([close('ada'), close('bob')]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const late = both.find(({ status }) => status === 409)?.body;
    expect(late.detail).toMatchObject({ reason: 'mark.version', version: 1, state: 'closed' });
    // Without a version the second meets a thread that is closed, and keeps its note.
    const again = await mark('bob', root, 'close', { note: 'mine' });
    expect(again.changed).toBe(false);
    expect(again.thread.closed.note).toMatch(/^by /);
  });

  test('[TM7] a closed thread refuses a reply with its note, unless it reopens it', async () => {
    const root = await send('ada', 'shut', { n: 0 });
    const reply = await send('bob', 'shut', { n: 1 }, { reply_to: root });
    await mark('ada', root, 'close', { note: 'answered in the docs' });
    await mark('ada', root, 'pin');
    const input = { channel: 'shut', body: { n: 2 }, reply_to: reply };
    const before = await hub.mark();
    const { status, body } = await hub.post('send', input, hub.as('bob'));
    expect(status).toBe(409);
    expect(body.message).toContain('answered in the docs');
    expect(body.detail).toMatchObject({
      ...{ reason: 'thread.closed', thread: root, note: 'answered in the docs', closed_by: 'ada' },
    });
    const foreign = await refused('bob', 'send', { ...input, reopen: true });
    expect(foreign).toEqual([403, 'mark.not-author']);
    expect((await hub.mark()).split(' ')[0]).toBe(`${Number(before.split(' ')[0]) + 1}`);
    await send('ada', 'shut', { n: 3 }, { reply_to: reply, reopen: true });
    expect(await thread('bob', root)).toMatchObject({
      thread: { state: 'open', closed: null, pinned: true, reply_count: 2 },
      marks: [{ mark: 'reopen', by: 'ada' }, { mark: 'pin' }, { mark: 'close' }],
    });
    await send('bob', 'shut', { n: 4 }, { reply_to: reply });
    expect(await refused('bob', 'send', { channel: 'shut', body: {}, reopen: true })).toEqual([
      ...[400, 'input.invalid'],
    ]);
  });

  test('[TM6] a reply elsewhere is refused, and with quote it is a link', async () => {
    const root = await send('ada', 'here', { n: 0 });
    const input = { channel: 'there', body: {}, reply_to: root };
    expect(await refused('bob', 'send', input)).toEqual([400, 'reply.elsewhere']);
    const link = await send('bob', 'there', {}, { reply_to: root, quote: true });
    expect(await hub.ask('bob', 'messages.get', { message_id: link })).toMatchObject({
      message: { reply_to: root, quote: true },
      thread_id: link,
    });
    expect((await thread('bob', root)).thread.reply_count).toBe(0);
    const told = await hub.ask('bob', 'agents.tell', { to: 'ada', body: {}, reply_to: root });
    expect(told.recipients).toHaveLength(1);
    expect(await refused('bob', 'send', { channel: 'there', body: {}, quote: true })).toEqual([
      ...[400, 'input.invalid'],
    ]);
  });
});

describe('lists', () => {
  test('[TM10] threads are listed the newest root first, by channel, state, author and type', async () => {
    const post = (by: string, type: string, title: string) =>
      send(by, 'board', { kind: 'post', type, title, tier: 1 });
    const plan = await post('ada', 'plan', 'First the parser\nthen the rest');
    const bug = await post('bob', 'bug', 'It leaks');
    await send('bob', 'board', { text: 'chat is no thread' });
    const asked = await send('cat', 'board', { text: 'is this one?' });
    await send('ada', 'board', { text: 'now it is' }, { reply_to: asked });
    await mark('bob', bug, 'close', { note: 'mended' });
    await mark('ada', plan, 'pin');
    const list = async (input: object): Promise<string[]> =>
      (await hub.ask('dan', 'threads.list', { channel: 'board', ...input })).threads.map(
        (one: Json) => one.message_id,
      );
    expect(await list({})).toEqual([asked, bug, plan]);
    expect(await list({ state: 'open' })).toEqual([asked, plan]);
    expect(await list({ state: 'closed' })).toEqual([bug]);
    expect(await list({ state: 'pinned' })).toEqual([plan]);
    expect(await list({ state: 'resolved' })).toEqual([]);
    expect(await list({ author: 'bob' })).toEqual([bug]);
    expect(await list({ type: 'plan' })).toEqual([plan]);
    const first = await hub.ask('dan', 'threads.list', { channel: 'board', limit: 2 });
    expect(first.next).toBe(bug);
    expect(await list({ after: first.next })).toEqual([plan]);
    const { threads } = await hub.ask('dan', 'threads.list', { limit: 100 });
    expect(threads.map((one: Json) => one.message_id).slice(0, 3)).toEqual([asked, bug, plan]);
    expect(threads[2]).toMatchObject({
      ...{ title: 'First the parser', type: 'plan', tier: 1, sender: 'ada', channel: 'board' },
    });
    expect(await refused('dan', 'threads.list', { state: 'burnt' })).toEqual([
      400,
      'input.invalid',
    ]);
    expect(await refused('dan', 'threads.list', { after: 'x' })).toEqual([400, 'input.invalid']);
    expect(await list({ channel: 'dm/ada~bob' })).toEqual([]);
  });

  test('[TM11] headlines have pinned threads first and closed ones last, so many of each channel', async () => {
    const ids: Record<string, string> = {};
    for (const title of ['a', 'b', 'c', 'd']) {
      ids[title] = await send('ada', 'news/busy', { kind: 'post', title });
    }
    await mark('ada', ids.a ?? '', 'pin');
    await mark('ada', ids.d ?? '', 'close', { note: 'over' });
    await send('ada', 'news/quiet', { kind: 'post', title: 'e' });
    for (let n = 0; n < 30; n++) await send('ada', 'news/busy', { n });
    const channels = ['news/busy', 'news/quiet'];
    const digest = (input: object): Promise<Json> =>
      hub.ask('bob', 'channels.digest', { channels, ...input });
    const { rows, channels: told } = await digest({ view: 'headlines', limit: 4 });
    expect(rows.map((one: Json) => one.title)).toEqual(['a', 'c', 'b', 'd', 'e']);
    expect(told).toMatchObject([
      { channel: 'news/busy', shown: 4, more: false },
      { channel: 'news/quiet', shown: 1, more: false },
    ]);
    const recent = await digest({ view: 'recent', limit: 3 });
    expect(recent.rows.map((one: Json) => one.channel)).toEqual([
      ...['news/busy', 'news/busy', 'news/busy', 'news/quiet'],
    ]);
    const full = await digest({ view: 'full', limit: 2 });
    expect(full.messages.map((one: Json) => one.body)).toEqual([
      ...[{ kind: 'post', title: 'e' }, { n: 28 }, { n: 29 }],
    ]);
    expect((await digest({ view: 'recent', since: Date.now() / 1000 + 60 })).rows).toEqual([]);
    expect(await refused('bob', 'channels.digest', { view: 'all' })).toEqual([
      400,
      'input.invalid',
    ]);
    const foreign = { view: 'full', channels: ['dm/ada~bob'] };
    expect(await refused('eve', 'channels.digest', foreign)).toEqual([403, 'dm.not-party']);
    await hub.ask('fan', 'subscribe', { pattern: 'news/quiet' });
    const own = await hub.ask('fan', 'channels.digest', { view: 'headlines' });
    expect(own.channels.map((one: Json) => one.channel)).toEqual(['news/quiet']);
  });

  test('[TM11] a digest of long bodies fits its page', async () => {
    for (const channel of ['wide/a', 'wide/b', 'wide/c']) {
      for (let n = 0; n < 8; n++) await send('ada', channel, { n, text: 'ü'.repeat(55_000) });
    }
    const channels = ['wide/a', 'wide/b', 'wide/c'];
    const input = { view: 'full', limit: 8, channels };
    const { text, body } = await hub.post('channels.digest', input, hub.as('bob'));
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024 * 1024);
    for (const { shown, more } of body.channels) expect([shown > 0, more]).toEqual([true, true]);
  });
});

describe('descriptions and posts', () => {
  test('[TM8] a post fits what the channel says; replies and chat are free', async () => {
    await hub.ask('ada', 'channels.describe', {
      channel: 'typed',
      ...{ title: 'Decisions', types: ['plan', 'bug'], tiers: [0, 1] },
      post_schema: { type: 'object', required: ['title'], properties: { title: { minLength: 3 } } },
    });
    const post = async (body: object): Promise<Json> => {
      const { status, body: answer } = await hub.post(
        'send',
        { channel: 'typed', body: { kind: 'post', type: 'plan', title: 'good', ...body } },
        hub.as('bob'),
      );
      return status === 200
        ? 200
        : [answer.detail.reason, ...answer.detail.violations.map((one: Json) => one.field)];
    };
    expect(await post({})).toBe(200);
    expect(await post({ tier: 1 })).toBe(200);
    for (const tier of [2, 1.5, '2', true, null, 3, -1]) {
      expect(await post({ tier })).toEqual(['post.invalid', 'body.tier']);
    }
    for (const type of ['gossip', 7, undefined]) {
      expect(await post({ type })).toEqual(['post.invalid', 'body.type']);
    }
    expect((await post({ title: 'x' }))[0]).toBe('post.invalid');
    const chat = await send('bob', 'typed', { tier: 1.5, type: 7 });
    await send('bob', 'typed', { type: 'gossip' }, { reply_to: chat });
    // Nobody has said anything of this channel: a tier is a tier all the same.
    const free = { channel: 'untyped', body: { kind: 'post', tier: '2' } };
    expect(await refused('bob', 'send', free)).toEqual([400, 'post.invalid']);
  });

  test('[TM9] who made a channel describes it, or a person; and lists tell of it', async () => {
    await send('ada', 'told', { n: 0 });
    const described = { channel: 'told', title: 'Told', description: 'what was told '.repeat(50) };
    expect(await refused('bob', 'channels.describe', described)).toEqual([403, 'access.denied']);
    await hub.ask('ada', 'channels.describe', described);
    const before = await hub.mark();
    await hub.ask('ada', 'channels.describe', described);
    expect(await hub.mark()).toBe(before);
    const byPerson = { channel: 'told', standing: true };
    expect((await hub.post('channels.describe', byPerson, person)).body).toMatchObject({
      ...{ title: 'Told', standing: true, described_by: 'hana' },
    });
    await hub.ask('bob', 'subscribe', { pattern: 'told' });
    await send('ada', 'told', { n: 1 });
    const listed = async (input: object): Promise<Json> =>
      (await hub.ask('bob', 'list_channels', input)).channels.find(
        ({ name }: Json) => name === 'told',
      );
    expect(await listed({})).toEqual({ name: 'told', subscriber_count: 1 });
    const detailed = await listed({ details: true });
    expect(detailed).toMatchObject({ title: 'Told', standing: true, owed: 1, subscribed: true });
    expect(detailed.description).toHaveLength(201);
    expect(detailed.last_activity).toBeGreaterThan(1e9);
    expect(await listed({ channel: 'told' })).toMatchObject({
      ...{ description: described.description, post_schema: null },
    });
    // What a person described, an agent does not take away.
    await hub.ask('bob', 'unsubscribe', { channels: ['told'] });
    expect(await refused('ada', 'retire', { channel: 'told' })).toEqual([409, 'channel.in-use']);
    for (const bad of [{ title: '' }, { title: 'a\nb' }, { types: ['a', 'a'] }, { tiers: [5] }]) {
      const input = { channel: 'told', ...bad };
      expect(await refused('ada', 'channels.describe', input)).toEqual([400, 'input.invalid']);
    }
    const schema = { channel: 'told', post_schema: { type: 'nonsense' } };
    expect(await refused('ada', 'channels.describe', schema)).toEqual([400, 'input.invalid']);
  });
});
