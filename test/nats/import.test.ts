/** A log that servers share is written past them by who has the directory of one of them, and while none of them has it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome, type Ran } from '../e2e/cli-run.ts';
import { openRunningHub } from '../e2e/running-hub.ts';
import { type NatsNode, NO_NATS, openNatsNode } from './server.ts';

describe.skipIf(NO_NATS !== null)(`an import into a cluster ${NO_NATS ?? ''}`, () => {
  let node: NatsNode;
  let home: Home;
  const dir = mkdtempSync(join(tmpdir(), 'synod-import-'));
  const storeAt = (prefix: string): string =>
    `nats://127.0.0.1:${node.port}/${prefix}?replicas=1&durability=relaxed`;

  beforeAll(async () => {
    home = openHome();
    node = await openNatsNode();
  });
  afterAll(async () => {
    await node?.close();
    await home?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('[JN9] [RT1] a stranger is refused by name, a server is while one runs, and then it is done', async () => {
    const store = storeAt('synod');
    const own = join(dir, 'a');
    const file = join(dir, 'export.ndjson');
    const first = await openRunningHub({ dir: own, flags: { store, serverName: 'a' } });
    await first.ask('ada', 'send', { channel: 'general', body: { text: 'one' } });
    expect((await home.run(['log', 'export', '--store', store, '--out', file])).code).toBe(0);
    const into = (space: string, ...more: string[]): Promise<Ran> =>
      home.run(['log', 'import', '--store', store, '--space', space, ...more, file]);

    const refused = { code: 78, stderr: expect.stringMatching(/belongs to a cluster.*--dir/) };
    expect(await into('restored')).toMatchObject(refused);
    const running = await into('default', '--dir', own);
    expect(running.stderr).toContain('is open at the server a');
    expect(running.code).not.toBe(0);
    await first.close();

    // Nobody runs there now; it is theirs all the same, also for a copy.
    expect(await into('restored')).toMatchObject(refused);
    const sqlite = `sqlite://${join(dir, 'copy.sqlite')}`;
    await home.json(['log', 'copy', '--store', store, sqlite]);
    const copying = ['log', 'copy', '--store', sqlite, store, '--space', 'restored'];
    expect(await home.run(copying)).toMatchObject(refused);
    const done = await into('restored', '--dir', own);
    expect([done.code, done.stdout + done.stderr]).toEqual([
      0,
      expect.stringContaining('imported'),
    ]);

    const compact = (space: string, ...more: string[]): Promise<Ran> =>
      home.run([
        ...['log', 'compact', '--store', store, '--space', space, '--older-than', '1s', ...more],
      ]);
    const again = await openRunningHub({ dir: own, flags: { store, serverName: 'a' } });
    const { messages } = await again.admin('replay', { channel: 'general' }, 'restored');
    expect(messages.map((one: { body: object }) => one.body)).toEqual([{ text: 'one' }]);
    expect((await compact('restored', '--dir', own)).stderr).toContain('is open at the server a');
    await again.close();

    expect(await compact('restored')).toMatchObject(refused);
    expect((await compact('restored', '--dry-run')).stdout).toContain('would drop 1 bodies');
    const mistyped = await compact('mistyped', '--dir', own);
    expect(mistyped.stderr).toContain('has no space mistyped');
    expect((await compact('restored', '--dir', own)).stdout).toContain('dropped 1 bodies');
    expect((await home.run(['log', 'verify', '--store', store, '--space', 'restored'])).code).toBe(
      0,
    );
  }, 120_000);

  test('[JN9] a server of another cluster is a stranger too, and where there is no cluster nobody is', async () => {
    const file = join(dir, 'export.ndjson');
    const other = join(dir, 'other');
    const hub = await openRunningHub({
      dir: other,
      flags: { store: storeAt('two'), serverName: 'x' },
    });
    await hub.close();
    const into = (prefix: string): Promise<Ran> =>
      home.run(['log', 'import', '--store', storeAt(prefix), '--dir', other, file]);
    expect(await into('synod')).toMatchObject({ code: 78 });
    expect(await into('fresh')).toMatchObject({ code: 0 });
  }, 120_000);
});
