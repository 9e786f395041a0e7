/**
 * Goal: what was written for the reference runs here unchanged, by the names it has there.
 * Method: our executables under those names; and, where their folders are given, the reference's own
 * SDK and worker: SYNOD_TEST_STDIOBUS and SYNOD_TEST_STDIOBUS_PYTHON, skipped without them.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Command } from 'commander';
import { afterAll, expect, test } from 'vitest';
import { StdioBus } from '../../../src/bus/sdk/index.ts';
import { registerWorker } from '../../../src/cli/worker.ts';

const run = promisify(execFile);
const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const BUS = at('bin/stdio-bus.js');
const LAUNCHER = at('bin/stdiobus.js');
const { SYNOD_TEST_STDIOBUS: theirs, SYNOD_TEST_STDIOBUS_PYTHON: python } = process.env;
const dir = mkdtempSync(join(tmpdir(), 'synod-names-'));
afterAll(() => rmSync(dir, { recursive: true }));

test('[BC14] every worker of the reference is here by its name', () => {
  const program = new Command();
  registerWorker(program);
  const [worker] = program.commands;
  const names = worker?.commands.flatMap((one) => [one.name(), ...one.aliases()]);
  for (const name of [
    ...['echo-worker', 'acp-worker', 'openai-agent', 'acp-registry', 'mcp-to-acp-proxy'],
    'mcp-echo-server',
  ]) {
    expect(names).toContain(name);
  }
});

test('[BC14] `stdio_bus` runs `stdiobus echo-worker`, and its workers inherit the environment', async () => {
  const script =
    'require("readline").createInterface({input:process.stdin}).on("line",(line)=>{' +
    'const {id,sessionId}=JSON.parse(line);' +
    'console.log(JSON.stringify({jsonrpc:"2.0",id,sessionId,result:process.env.SOME_KEY??null}))})';
  const bus = new StdioBus({
    backend: 'subprocess',
    subprocess: {
      ...{ binaryPath: BUS, dialect: 'synod', env: { SOME_KEY: 'inherited' }, startTimeoutSec: 15 },
    },
    config: {
      pools: [
        { id: 'echo', command: process.execPath, args: [LAUNCHER, 'echo-worker'] },
        { id: 'env', command: process.execPath, args: ['-e', script] },
      ],
    },
  });
  await bus.start();
  expect(await bus.request('hi', { a: 1 }, { pool: 'echo' })).toMatchObject({ echo: { a: 1 } });
  expect(await bus.request('hi', {}, { pool: 'env' })).toBe('inherited');
  await bus.stop(5);
});

test('[WP33] `acp-registry` takes the config and the keys as the reference’s guides write them', async () => {
  const write = (name: string, value: object): string => {
    writeFileSync(join(dir, name), JSON.stringify(value), { mode: 0o600 });
    return join(dir, name);
  };
  const distribution = { npx: { package: 'x' } };
  const config = write('launcher.json', {
    _comment: 'mine',
    registryUrl: write('registry.json', { agents: [{ id: 'claude-acp', distribution }] }),
    apiKeysPath: write('keys.json', { 'claude-acp': { apiKey: 'k', env: { A_KEY: 'secret' } } }),
    shutdownTimeout: 5,
  });
  const { stdout, stderr } = await run(process.execPath, [
    ...[LAUNCHER, 'acp-registry', config, '--auth-status'],
  ]);
  expect(stdout).toBe('claude-acp: A_KEY\n');
  expect(stderr).toMatch(/"shutdownTimeout" is not known .*did you mean shutdownTimeoutSec\?/);
  const bad = write('bad.json', { registryUrl: 5 });
  await expect(run(process.execPath, [LAUNCHER, 'acp-registry', bad])).rejects.toMatchObject({
    stderr: expect.stringMatching(/bad\.json: registryUrl must be a text/),
  });
});

test.skipIf(!theirs)(
  '[BC14] the reference’s own config and echo worker run as they are',
  async () => {
    const child = run(BUS, ['--config', 'examples/config-echo.json', '--stdio'], {
      cwd: theirs as string,
    });
    child.child.stdin?.end('{"jsonrpc":"2.0","id":1,"method":"hi","params":{"a":1}}\n');
    const { stdout } = await child;
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, result: { echo: { a: 1 } } });
  },
);

test.skipIf(!python)(
  '[BC14] the reference’s own Python SDK starts this bus and speaks with it',
  async () => {
    const script = `
import asyncio, json, sys
sys.path.insert(0, ${JSON.stringify(python)})
from stdiobus import AsyncStdioBus, BusConfig, PoolConfig, SubprocessOptions
async def main():
    pool = PoolConfig(id='echo', command=${JSON.stringify(process.execPath)},
                      args=[${JSON.stringify(LAUNCHER)}, 'echo-worker'], instances=1)
    bus = AsyncStdioBus(config=BusConfig(pools=[pool]), backend='subprocess',
                        subprocess=SubprocessOptions(binary_path=${JSON.stringify(BUS)}))
    await bus.start()
    answer = await bus.request('hi', {'a': 1})
    hello = await bus.hello()
    await bus.stop(5)
    print(json.dumps([answer['echo'], hello.negotiated_protocol_version]))
asyncio.run(main())
`;
    const { stdout } = await run('python3', ['-c', script]);
    expect(JSON.parse(stdout)).toEqual([{ a: 1 }, '0.1.0']);
  },
);
