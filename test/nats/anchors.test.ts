/** What proves a log in JetStream: heads that the sequencer signs, anchors, and an export that is checked without Synod. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from '../e2e/cli-run.ts';
import { until } from '../e2e/deadline.ts';
import type { Json } from '../e2e/running-hub.ts';
import { NO_NATS } from './server.ts';
import { NAMES, type Name, openThreeServers, type ThreeServers } from './three-servers.ts';

const VERIFIER = new URL('../../bin/synod-verify.mjs', import.meta.url).pathname;

describe.skipIf(NO_NATS !== null)(`what proves a log in JetStream ${NO_NATS ?? ''}`, () => {
  let three: ThreeServers;
  let home: Home;
  const outside = mkdtempSync(join(tmpdir(), 'synod-outside-'));
  const anchors = join(outside, 'anchors.ndjson');
  // Without the key: what is anchored is the head as the sequencer signed it last.
  const env = { SYNOD_RECORD_KEY: '', XDG_STATE_HOME: join(outside, 'state') };
  const synod = (...args: string[]) => home.run([...args, '--store', three.store], { env });
  const headAt = async (at: Name): Promise<Json> =>
    (await three.ask(at, three.owner(at), 'record_head', {})) ?? null;

  beforeAll(async () => {
    home = openHome();
    three = await openThreeServers();
    for (const at of NAMES) {
      for (let i = 0; i < 5; i++) await three.ask(at, 'ada', 'send', { channel: 'x', body: { i } });
    }
  }, 130_000);
  afterAll(async () => {
    await three?.close();
    await home?.close();
    rmSync(outside, { recursive: true, force: true });
  });

  test('[RC9] the sequencer signs, every server knows what was signed, whoever signs next', async () => {
    const { cluster } = await three.ask('a', 'ada', 'status', {});
    const first = cluster.sequencer as Name;
    const [other, third] = NAMES.filter((name) => name !== first) as [Name, Name];
    await three.stop(first);
    const signed = await until(
      'what it signed is known',
      () => headAt(other),
      (one) => one.signed != null,
      30_000,
    );
    expect(signed.signed).toMatchObject({
      position: expect.any(Number),
      key: expect.stringMatching(/^ed25519:/),
    });
    await three.start(first);
    const all = await Promise.all(
      NAMES.map(async (at) => JSON.stringify((await headAt(at)).signed)),
    );
    expect(new Set(all).size).toBe(1);
    expect((await headAt(third)).length).toBeGreaterThanOrEqual(signed.signed.position);
  }, 90_000);

  test('[RC6] [RC7] [RC9] a head is anchored, holds, and vouches for an export; a tail that was cut contradicts it', async () => {
    const anchored = await synod('log', 'anchor', '--file', anchors);
    expect([anchored.code, anchored.stderr]).toEqual([0, expect.any(String)]);
    const key = JSON.parse(readFileSync(anchors, 'utf8')).key as string;
    const noted = await until(
      'the hub knows of the anchor',
      () => headAt('b'),
      (one) => one.anchor != null,
      30_000,
    );
    expect(noted.anchor).toMatchObject({ key });
    const holds = await synod('log', 'verify', '--anchors', anchors, '--key', key);
    expect([holds.code, holds.stdout]).toEqual([0, expect.stringContaining('1 anchor holds')]);
    const out = join(outside, 'export.ndjson');
    expect((await synod('log', 'export', '--out', out, '--with-anchors')).code).toBe(0);
    const checked = execFileSync(process.execPath, [VERIFIER, out, '--anchors', anchors], {
      encoding: 'utf8',
    });
    expect(checked).toMatch(/ok/i);
    for (const at of NAMES) await three.stop(at);
    await cutTail();
    const broken = await synod('log', 'verify', '--anchors', anchors, '--key', key);
    expect([broken.code, broken.stderr + broken.stdout]).toEqual([
      1,
      expect.stringContaining('the anchor of'),
    ]);
    const again = await synod('log', 'anchor', '--file', anchors);
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('nothing was anchored'),
    ]);
    // The hub says so as well, and keeps what was signed.
    await three.start('a');
    await until(
      'the hub tells of it',
      async () => three.stderr('a'),
      (text) => text.includes('the head signed at'),
      30_000,
    );
  }, 90_000);

  /** As somebody does who can write to NATS. */
  async function cutTail(): Promise<void> {
    const connection = await connect({ servers: [`127.0.0.1:${three.node.port}`] });
    const manager = await jetstreamManager(connection);
    for await (const name of manager.streams.names()) {
      if (!name.startsWith('synod-log-default')) continue;
      const { state } = await manager.streams.info(name);
      for (let back = 0; back < 3; back++)
        await manager.streams.deleteMessage(name, state.last_seq - back);
    }
    await connection.close();
  }
});
