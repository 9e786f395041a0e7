/** `synod service`, as somebody runs it, with a systemctl that writes down what it is told. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Command } from 'commander';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addServeFlags } from '../../src/cli/serve-flags.ts';
import { type Home, openHome } from './cli-run.ts';
import { openRunningHub } from './running-hub.ts';

let home: Home;
let env: Record<string, string>;
let unit: string;
let record: string;
beforeAll(() => {
  home = openHome();
  const root = dirname(home.dir);
  const bin = join(root, 'bin');
  record = join(root, 'record');
  unit = join(root, '.config', 'systemd', 'user');
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemctl'), `#!/bin/sh\necho "$*" >> '${record}'\n`);
  chmodSync(join(bin, 'systemctl'), 0o755);
  env = { PATH: `${bin}:${process.env.PATH}` };
});
afterAll(() => home.close());

test.skipIf(process.platform !== 'linux')(
  '[SI1] [SI2] it shows what it writes, writes that and no more, and takes it away',
  async () => {
    const flags = ['--port', '0', '--synapse', '--relay', 'feed.ndjson'];
    const dry = await home.run(['service', 'install', '--dry-run', ...flags], { env });
    expect(dry.stderr).toContain('nothing was written');
    expect([existsSync(unit), existsSync(record)]).toEqual([false, false]);

    const made = await home.json(['service', 'install', ...flags], { env });
    const path = String(made.path);
    expect(dirname(path)).toBe(unit);
    const text = readFileSync(path, 'utf8');
    expect(text).toBe(made.text);
    // What was shown without --json is the same text.
    expect(dry.stdout).toContain('ExecStart=');
    // It runs the hub that these flags mean, wherever it stands.
    const words = [...(/^ExecStart=(.*)$/m.exec(text)?.[1] ?? '').matchAll(/"([^"]*)"/g)];
    const [, bin, verb, ...rest] = words.map(([, word]) => word as string);
    expect(bin).toMatch(/bin\/synod\.js$/);
    expect(verb).toBe('serve');
    const command = addServeFlags(new Command()).option('--dir <path>').exitOverride();
    command.parse(rest, { from: 'user' });
    const relay = join(dirname(home.dir), 'feed.ndjson');
    expect(command.opts()).toMatchObject({ dir: home.dir, port: '0', synapse: true, relay });
    expect(readFileSync(record, 'utf8')).toMatch(/daemon-reload\n--user enable --now synod-/);

    const status = await home.json(['service', 'status'], { env });
    expect(status).toMatchObject({ state: 'installed', running: true, path, hub: null });
    const gone = await home.json(['service', 'uninstall'], { env });
    expect(gone).toMatchObject({ removed: true, path, failed: [] });
    expect(existsSync(join(dirname(home.dir), '.config'))).toBe(false);
  },
);

test.skipIf(process.platform !== 'linux')(
  '[SI2] while a hub runs from the directory nothing is written',
  async () => {
    const hub = await openRunningHub({ dir: home.dir });
    const refused = await home.run(['service', 'install'], { env });
    expect(refused.code).toBe(75);
    expect(refused.stderr).toContain('synod down');
    expect(existsSync(unit)).toBe(false);
    await hub.close();
  },
);
