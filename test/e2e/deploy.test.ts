/** What lies ready under deploy/ and examples/work/ is what the hub understands, and does what it tells. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addServeFlags } from '../../src/cli/serve-flags.ts';
import { type Config, parseConfig } from '../../src/server/run/config.ts';
import { listFiles } from '../tidy/repository.ts';

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), 'utf8');

/** The flags behind `serve`, as the command line would take them. */
function configOf(words: readonly string[], env: Record<string, string> = {}): Config {
  const [name, ...flags] = words;
  expect(name).toBe('serve');
  const command = addServeFlags(new Command()).option('--dir <path>').exitOverride();
  command.parse(flags, { from: 'user' });
  expect(command.args).toEqual([]);
  const config = parseConfig({ flags: command.opts(), env, file: undefined, home: '/h', cwd: '/' });
  if (Array.isArray(config)) throw new Error(JSON.stringify(config));
  return config;
}

test('the compose file keeps its data, maps the ports the hub opens, and lets nobody in without a token', () => {
  const text = read('deploy/compose.yaml');
  const [, list = ''] = /^ +command: (\[.*\])$/m.exec(text) ?? [];
  const env = { SYNAPSE_TOKEN: 'a-shared-secret' };
  const { dir, host, port, auth, synapse } = configOf(JSON.parse(list) as string[], env);
  expect({ dir, host, auth }).toEqual({ dir: '/data', host: '0.0.0.0', auth: 'local' });
  expect(synapse).toMatchObject({ auth: 'token', token: env.SYNAPSE_TOKEN });
  expect(text).toContain(`"127.0.0.1:${port}:${port}"`);
  expect(text).toContain(`"127.0.0.1:${synapse?.port}:${synapse?.port}"`);
  expect(text).toContain('- synod-data:/data');
  // The key outlives the container too, and lies elsewhere [RC2].
  expect(text).toMatch(/SYNOD_RECORD_KEY: \/keys\/[\s\S]*- synod-keys:\/keys/);
  expect(read('Dockerfile')).toMatch(/install -d -o node .* \/keys\b/);
  expect(read('Dockerfile')).toMatch(/install -d -o node .* \/data\b/);
});

const demos = listFiles('examples/work', '.ts').filter((path) => !path.endsWith('scene.ts'));
test.each(demos)(
  '%s tells what happens, and it does',
  async (path) => {
    const { stdout } = await promisify(execFile)(process.execPath, [at(path)], { timeout: 60_000 });
    expect(stdout.trim().split('\n').length).toBeGreaterThan(3);
  },
  60_000,
);
