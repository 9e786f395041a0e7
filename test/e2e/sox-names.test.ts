/** SOX's own names, as its users type them: the server's executable, and `config`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { openHome } from './cli-run.ts';

const SERVER = fileURLToPath(new URL('../../bin/sox-mcp-server.js', import.meta.url));
const home = openHome();
afterAll(() => home.close());

test('[CL32] sox-mcp-server introduces itself as SOX’s server does', async () => {
  const child = spawn(process.execPath, [SERVER], {
    // A hub that is named is not started, and none is needed to shake hands.
    env: { PATH: process.env.PATH ?? '', HOME: home.dir, SYNOD_URL: 'http://127.0.0.1:9' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const params = {
    ...{ protocolVersion: '2024-11-05', capabilities: {} },
    clientInfo: { name: 'test', version: '1' },
  };
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  expect(JSON.parse(String(line))).toMatchObject({
    result: { serverInfo: { name: 'sox-protocol' } },
  });
  child.stdin.end();
  await once(child, 'close');
});

test('[CL33] config says what is in force, in the fields SOX has, and keeps secrets to itself', async () => {
  const env = { SOX_AGENT_ID: 'ada', SOX_HTTP_PORT: '0', SYNOD_TOKEN: 'the-secret' };
  const { stdout } = await home.run(['config', '--store', 'memory://', '--compact'], { env });
  expect(stdout).not.toContain('the-secret');
  expect(JSON.parse(stdout)).toMatchObject({
    sox_protocol_version: '1.0',
    agent_id: 'ada',
    backing_store: 'memory:',
    settings: { port: { value: 0, source: 'env', said: 'SOX_HTTP_PORT' } },
    env: { SOX_AGENT_ID: 'ada', SYNOD_TOKEN: '(hidden)' },
  });
  const { stdout: table } = await home.run(['config'], { env });
  expect(table).toMatch(/^port +0 +SOX_HTTP_PORT$/m);
});
