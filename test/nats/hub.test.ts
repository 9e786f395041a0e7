/** A hub whose log lies in JetStream: everything as with a file, and one server at a time. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from '../e2e/cli-run.ts';
import { openRunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`a hub on JetStream ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let home: Home;
  let store: string;
  const dir = mkdtempSync(join(tmpdir(), 'synod-on-nats-'));

  beforeAll(async () => {
    home = openHome();
    node = await openNatsNode();
    store = `nats://127.0.0.1:${node.port}/synod?replicas=1&durability=relaxed`;
  });
  afterAll(async () => {
    await node?.close();
    await home?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[NL1] [NL5] what was said is there after a restart, also elsewhere; a second server is told who writes', async () => {
    const first = await openRunningHub({ dir, flags: { store } });
    await first.ask('bob', 'subscribe', { pattern: 'general' });
    for (const text of ['one', 'two']) {
      await first.ask('ada', 'send', { channel: 'general', body: { text } });
    }
    await expect(openRunningHub({ flags: { store } })).rejects.toMatchObject({
      code: 'log.locked',
      message: expect.stringContaining('stop that server'),
    });
    // Started in the background it is told so at once, and not that something was too slow.
    const other = await home.run(['up', '--port', '0', '--store', store]);
    expect(other.code).toBe(75);
    expect(other.stderr).toMatch(/^log\.locked: nats:.* is open at /);
    const strict = await home.run([
      'up',
      '--port',
      '0',
      '--store',
      store.replace('/synod?', '/strict?').replace('relaxed', 'strict'),
    ]);
    expect(strict).toMatchObject({ code: 78, stderr: expect.stringMatching(/^log\.durability: /) });
    await first.close();
    // Another machine: nothing but the address is taken along.
    const second = await openRunningHub({ flags: { store } });
    const { messages } = await second.ask('bob', 'recv', {});
    expect(messages.map((one: { body: { text: string } }) => one.body.text)).toEqual([
      'one',
      'two',
    ]);
    await second.close();
  });

  test('[NL1] [G11] the log is verified where it lies, and copied with its heads', async () => {
    const told = await home.json(['log', 'verify', '--store', store]);
    expect(told).toMatchObject({ ok: true });
    const other = `sqlite://${join(dir, 'copy.sqlite')}`;
    const copied = await home.json(['log', 'copy', '--store', store, other]);
    expect(copied).toMatchObject({ skipped: 0, length: copied.appended });
    // Again it has nothing to do, and back into another prefix the heads are the same.
    expect(await home.json(['log', 'copy', '--store', store, other])).toMatchObject({
      appended: 0,
    });
    const back = store.replace('/synod?', '/back?');
    expect(await home.json(['log', 'copy', '--store', other, back])).toMatchObject({
      ...{ length: copied.length, head: copied.head },
    });
    const itself = await home.run(['log', 'copy', '--store', other, other]);
    expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining('onto itself')]);
    const [here, there] = await Promise.all(
      [store, other].map((one) => home.json(['log', 'verify', '--store', one])),
    );
    const headOf = (one?: Record<string, unknown>): unknown =>
      (one as { logs?: { head: string }[] } | undefined)?.logs?.[0]?.head;
    expect(headOf(here)).toMatch(/^[0-9a-f]{64}$/);
    expect(headOf(there)).toBe(headOf(here));
  });

  test('[NL4] a store that is no address of NATS, or at which nobody answers, is refused', async () => {
    const strange = await home.run(['serve', '--store', 'nats://127.0.0.1/x?colour=red']);
    expect([strange.code, strange.stderr]).toEqual([
      78,
      expect.stringContaining('has no "colour", but replicas'),
    ]);
    const nobody = await home.run(['serve', '--store', 'nats://127.0.0.1:1/x']);
    expect(nobody.stderr).toContain('no NATS server answers');
    expect(nobody.code).not.toBe(0);
  });
});
