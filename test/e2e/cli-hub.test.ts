/** The hub itself from the command line: begun in the background and ended, and its log taken elsewhere. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Home, openHome } from './cli-run.ts';

let home: Home;
let url: string;

beforeAll(async () => {
  home = openHome();
  ({ url } = (await home.json(['up', '--port', '0'])) as { url: string });
  for (const word of ['one', 'two', 'three']) await home.said('send', 'team', word, '--as', 'ada');
});
afterAll(() => home.close());

const text = (ran: { stdout: string }) => ran.stdout.trimEnd();

describe('the hub in the background', () => {
  test('[CL5] up is idempotent, also when several start at once; down stops it; status tells', async () => {
    const own = openHome();
    try {
      expect(await own.run(['status'])).toMatchObject({ code: 69 });
      expect((await own.run(['send', 'a', 'b'])).stderr).toContain('start one with "synod up"');
      const all = await Promise.all([1, 2, 3].map(() => own.json(['up', '--port', '0'])));
      expect(new Set(all.map(({ pid }) => pid)).size).toBe(1);
      expect(all.filter(({ started }) => started)).toHaveLength(1);
      expect(await own.json(['status'])).toMatchObject({
        running: true,
        pid: all[0]?.pid,
        store_ok: true,
      });
      expect(await own.json(['down'])).toMatchObject({ stopped: true, pid: all[0]?.pid });
      expect(await own.json(['down'])).toMatchObject({ stopped: false });
      expect(readdirSync(own.dir)).not.toContain('hub.json');
    } finally {
      await own.close();
    }
  });

  test('[CL5] [G10] up waits for nobody when a hub of another directory has the store', async () => {
    const [own, other] = [openHome(), openHome()];
    try {
      const store = `--store=sqlite://${join(own.dir, 'shared.sqlite')}`;
      const { pid } = await own.json(['up', '--port', '0', store]);
      const second = await other.run(['up', '--port', '0', store]);
      expect(second).toMatchObject({ code: 75 });
      expect(second.stderr).toMatch(
        new RegExp(`the store .*shared.sqlite is in use by process ${pid}`),
      );
    } finally {
      await own.close();
      await other.close();
    }
  });

  test('up says why it cannot', async () => {
    const own = openHome();
    try {
      const { port } = new URL(url);
      const taken = await own.run(['up', '--port', port]);
      expect(taken).toMatchObject({ code: 71, stdout: '' });
      expect(taken.stderr).toContain('hub.port-taken: ');
      expect((await own.run(['up', '--store', 'x'])).stderr).toContain('config.invalid: --store');
    } finally {
      await own.close();
    }
  });

  test('plain synod serves, greets, and stops on Ctrl-C', async () => {
    const own = openHome();
    try {
      const hub = own.start(['--port', '0']);
      await hub.printed(/Synod is running at http:\/\/127\.0\.0\.1:\d+[\s\S]*Ctrl-C stops it/);
      hub.child.kill('SIGINT');
      expect(await hub.exited()).toMatchObject({ code: 0, stderr: '' });
    } finally {
      await own.close();
    }
  });

  test('[CL9] synod mcp starts a hub when none runs, and speaks as its agent', async () => {
    const own = openHome();
    try {
      const input = [
        {
          id: 1,
          method: 'initialize',
          params: {
            protocolVersion: '2025-06-18',
            capabilities: {},
            clientInfo: { name: 't', version: '1' },
          },
        },
        { method: 'notifications/initialized' },
        { id: 2, method: 'tools/call', params: { name: 'hub__whoami', arguments: {} } },
      ].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
      const env = { SOX_AGENT_ID: 'eve', SOX_HTTP_PORT: '0' };
      const { code, stdout } = await own.run(['mcp', '--tools', 'all'], {
        input: input.join(''),
        env,
      });
      expect(code).toBe(0);
      const answers = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(answers.map(({ id }) => id)).toEqual([1, 2]);
      expect(answers[1].result.structuredContent).toMatchObject({ agent_id: 'eve' });
      expect(await own.json(['status'])).toMatchObject({ running: true });
    } finally {
      await own.close();
    }
  });
});

describe('the log', () => {
  test('[CL8] verify and export work beside a running hub; import does not', async () => {
    const verified = await home.run(['log', 'verify', '--space', 'default']);
    expect(text(verified)).toMatch(/^ok .*default\.sqlite: \d+ entries/);
    const file = join(home.dir, 'export.ndjson');
    expect((await home.run(['log', 'export', '--out', file])).code).toBe(0);
    // By its space or by its path: a log has one writer.
    const store = `sqlite://${join(home.dir, 'spaces', 'default.sqlite')}`;
    for (const where of [[], ['--store', store]]) {
      const ran = await home.run(['log', 'import', file, ...where]);
      expect(ran).toMatchObject({ code: 75, stdout: '' });
      expect(ran.stderr).toContain('log.locked: ');
    }
  });

  test('[CL8] an export can be imported elsewhere, twice, and verifies until it is tampered with', async () => {
    const own = openHome();
    try {
      const exported = await home.run(['log', 'export', '--space', 'default']);
      const lines = exported.stdout.trimEnd().split('\n');
      expect(JSON.parse(lines[0] ?? '')).toMatchObject({ synod_log: 1, from: 0 });
      const input = exported.stdout;
      const first = await own.json(['log', 'import'], { input });
      expect(first).toMatchObject({ is_complete: true, skipped: 0 });
      expect(await own.json(['log', 'import'], { input })).toMatchObject({
        appended: 0,
        skipped: first.appended,
      });
      const file = join(own.dir, 'spaces', 'default.sqlite');
      expect(await own.json(['log', 'verify'])).toMatchObject({ ok: true });

      const db = new DatabaseSync(file);
      const { bytes } = db.prepare('SELECT bytes FROM batches WHERE first = 1').get() as {
        bytes: Uint8Array;
      };
      const at = bytes.length - 3;
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      db.prepare('UPDATE batches SET bytes = ? WHERE first = 1').run(bytes);
      db.close();
      const broken = await own.run(['log', 'verify']);
      expect(broken.code).toBe(1);
      expect(broken.stderr).toContain('log.broken: ');
      expect(broken.stderr).toContain('first breaks at position 1:');
      const json = await own.run(['log', 'verify', '--json']);
      expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, logs: [{ position: 1 }] });
      expect(JSON.parse(json.stderr)).toMatchObject({
        error_code: 'log.broken',
        detail: { position: 1 },
      });
    } finally {
      await own.close();
    }
  });

  test('[CL8] what is not a log is refused and left alone', async () => {
    const own = openHome();
    try {
      expect((await own.run(['log', 'verify'])).code).toBe(66);
      const file = join(own.dir, '..', 'notes.txt');
      writeFileSync(file, 'my notes');
      const ran = await own.run(['log', 'import', '--store', `sqlite://${file}`], { input: '{}' });
      expect(ran.code).toBe(65);
      expect(ran.stderr).toContain('log.corrupt: ');
      expect(readFileSync(file, 'utf8')).toBe('my notes');
    } finally {
      await own.close();
    }
  });
});
