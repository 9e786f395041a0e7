/** NATS that knows its users: wrong credentials are told, and a server joins with the user that is printed for it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinCluster } from '../../src/server/run/join-cluster.ts';
import { openLog } from '../../src/server/run/open-log.ts';
import { until } from '../e2e/deadline.ts';
import { type Json, openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`users of NATS ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  const hubs: RunningHub[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'synod-users-'));
  const admin = '{ user: "one", password: "secret-of-one" }';
  const narrow = `{ user: "narrow", password: "narrow", permissions: {
    publish: { allow: ["synod.>", "$JS.API.>"] }, subscribe: { allow: ["synod.>", "_INBOX.>"] } } }`;
  const place = (who: string): string =>
    `nats://${who}127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;

  beforeAll(async () => {
    node = await openNatsNode({
      top: 'authorization { include users.conf }',
      files: { 'users.conf': `users: [ ${admin}\n${narrow} ]` },
    });
  });
  afterAll(async () => {
    for (const hub of hubs) await hub.close();
    await node?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[NL4] wrong credentials are said with what to mend', async () => {
    const flags = { store: place('one:wrong@'), serverName: 'one' };
    const tried = openRunningHub({ dir: join(dir, 'wrong'), flags });
    await expect(tried).rejects.toThrow(/refuses these credentials.*mend the user/);
  });

  test('[NL4] a prefix that the user may not publish under is said, and is not called locked', async () => {
    const store = place('narrow:narrow@').replace('/synod?', '/restored?');
    await expect(openLog(store)).rejects.toThrow(/unavailable: .*does not let this user do that/);
  });

  test('[JN8] a server of one space joins, serves and signs with the user that is printed, and is refused elsewhere', async () => {
    const flags = { store: place('one:secret-of-one@'), serverName: 'one' };
    const one = await openRunningHub({ dir: join(dir, 'one'), flags });
    hubs.push(one);
    const body = { from: 'one' };
    for (const space of ['default', 'blue'])
      await one.ask('ada', 'send', { channel: 'general', body }, space);
    const invited = await one.admin('cluster.invite', { name: 'two', spaces: ['blue'] });
    expect(invited.token).not.toContain('secret-of-one');
    writeFileSync(join(node.dir, 'users.conf'), `users: [ ${admin}\n${invited.nats_user}\n]`);
    await node.kill();
    await node.start();
    const two = join(dir, 'two');
    const wish = { token: invited.token, dir: two, name: null, store: null, ca: null };
    const { store } = await joinCluster(wish);
    expect(store).toContain('nkey=');

    // It serves: of the two one sequences, and the other forwards to it.
    const open = (): Promise<RunningHub> =>
      openRunningHub({ dir: two, flags: { store, serverName: 'two' } });
    let second = await open();
    hubs.push(second);
    /** While the sequencer changes an answer may be that nobody knows: then it is asked again. */
    const surely = (hub: RunningHub, agent: string, what: string, input: Json): Promise<Json> =>
      until(what, () => hub.ask(agent, what, input, 'blue').catch(() => null), Boolean, 30_000);
    const say = (text: string, hub = second, agent = 'bob'): Promise<Json> =>
      surely(hub, agent, 'send', { channel: 'general', body: { text }, idempotency_key: text });
    const sequencer = async (): Promise<string | null> =>
      (await second.ask('bob', 'status', {}, 'blue')).cluster.sequencer;
    await surely(second, 'bob', 'subscribe', { pattern: 'general' });
    await say('forwarded');
    await say('by one', one, 'ada');
    const texts = await until(
      'it hears what the other wrote',
      async () => {
        const { messages } = await second.ask('bob', 'replay', { channel: 'general' }, 'blue');
        return messages.map((one: Json) => one.body.text ?? one.body.from);
      },
      (all) => all.length === 3,
    );
    expect(texts).toEqual(['one', 'forwarded', 'by one']);
    const claim = { task_id: 'parse', paths: ['src/parser.ts'], worktree: '/' };
    await surely(second, 'bob', 'claims.take', claim);
    const { claims } = await one.ask('ada', 'claims.list', {}, 'blue');
    expect(claims).toMatchObject([{ task_id: 'parse' }]);
    const elsewhere = await second.post('send', { channel: 'general', body }, second.as('bob'));
    expect(elsewhere.body.detail).toMatchObject({ reason: 'space.elsewhere' });

    // The other is gone: now it decides and appends itself, and signs what it appended.
    await one.close();
    await until('it sequences', sequencer, (who) => who === 'two', 30_000);
    await say('decided here');
    await second.close();
    second = await open();
    hubs.push(second);
    const head = await second.admin('record.head', {}, 'blue');
    expect(head.signed).toMatchObject({ position: head.length });
    expect(second.log.join('\n')).not.toMatch(/permission/i);

    await refusedElsewhere(two);
  }, 180_000);

  /** Whoever has the key of the server, and asks NATS itself. */
  async function refusedElsewhere(two: string): Promise<void> {
    const seed = readFileSync(join(two, 'nats.nk'));
    const key = nkeys.fromSeed(Buffer.from(seed.toString().trim()));
    const servers = [`127.0.0.1:${node.port}`];
    const owner = await connect({ servers, user: 'one', pass: 'secret-of-one' });
    const streams = (await jetstreamManager(owner)).streams;
    const [log = ''] = (await streams.names('synod.log.>').next()).filter((name: string) =>
      name.startsWith('synod-log-default-'),
    );
    const before = await streams.info(log);
    const subject = before.config.subjects[0] as string;
    const word = log.slice('synod-log-'.length);
    const thief = await connect({
      servers,
      authenticator: nkeyAuthenticator(key.getSeed()),
      inboxPrefix: `_INBOX.${key.getPublicKey()}`,
    });
    const refused = new Set<string>();
    void (async () => {
      for await (const { type, error } of thief.status() as AsyncIterable<Json>)
        if (type === 'error') refused.add(`${error.operation} ${error.subject}`);
    })();
    const published = [
      ...[subject, `synod.snap.${word}.1`, `synod.heads.${word}`, `synod.anchors.${word}`],
      ...['synod.lease.default', 'synod.ask.default.one', 'synod.whisper.default'],
      ...['synod.spaces.default', 'synod.spaces.blue', 'synod.joins.x', 'synod.revoked.one'],
      ...['synod.servers.one', 'synod.alive.one'],
      ...['INFO', 'MSG.GET', 'PURGE', 'DELETE', 'UPDATE'].map(
        (word) => `$JS.API.STREAM.${word}.${log}`,
      ),
      ...[`$JS.API.DIRECT.GET.${log}`, `$JS.API.CONSUMER.CREATE.${log}`],
      ...['$JS.API.STREAM.PURGE.synod-spaces', '$JS.API.STREAM.PURGE.synod-heads'],
      ...['$JS.API.STREAM.DELETE.synod-servers', '$JS.API.STREAM.CREATE.mine'],
    ];
    for (const one of published) thief.publish(one, '{}');
    const heard = [subject, 'synod.ask.default.*', 'synod.whisper.default', 'synod.>', '_INBOX.>'];
    for (const one of heard) thief.subscribe(one, { callback: () => {} });
    const all = [
      ...published.map((one) => `publish ${one}`),
      ...heard.map((one) => `subscription ${one}`),
    ].sort();
    await until(
      'each is refused',
      async () => {
        await thief.flush();
        return refused.size;
      },
      (count) => count >= all.length,
      10_000,
    ).catch(() => {});
    expect([...refused].sort()).toEqual(all);
    expect((await streams.info(log)).state.last_seq).toBe(before.state.last_seq);
    await thief.close();
    await owner.close();
  }
});
