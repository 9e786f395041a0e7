/** What a page in a browser can send to a TCP port reaches no worker of a bus that listens there. */
import { readFileSync, statSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BusHome, type BusProcess, openBusHome } from '../e2e/bus-process.ts';

let home: BusHome;
let bus: BusProcess;
let where: string;
beforeAll(async () => {
  home = openBusHome();
  bus = home.start(['--config', home.config({ pools: [home.pool('a')] }), '--tcp', '127.0.0.1:0']);
  [, where = ''] = await bus.logged(/ready on (\S+)/);
});
afterAll(() => home.close());

const CALL = '{"jsonrpc":"2.0","id":1,"method":"m","params":{"isSaid":true}}';

/** As a form or `fetch` with `text/plain` sends it, without asking anybody first. */
function postOf(body: string): string {
  return [
    'POST / HTTP/1.1',
    `Host: ${where}`,
    'Content-Type: text/plain',
    `Content-Length: ${body.length}`,
    '',
    body,
    '',
  ].join('\r\n');
}

test('[BD6] the body of a POST is not carried out: the connection ends at its first line', async () => {
  const page = await home.connect(where);
  page.socket.write(postOf(`${CALL}\n`));
  expect(await page.next()).toMatchObject({ id: null, error: { data: { code: 'bus.policy' } } });
  await page.ended();
  expect(bus.log).not.toMatch(/at work/);
});

test('[BD6] nor is it when the page knows the token: its first line is no JSON object', async () => {
  const token = readFileSync(home.path('.synod/bus-token'), 'utf8').trim();
  const auth = JSON.stringify({ type: 'auth', token });
  for (const first of [
    postOf(`${auth}\n${CALL}\n`),
    `[${auth}]\n${CALL}\n`,
    `"${auth}\n${CALL}\n`,
  ]) {
    const page = await home.connect(where);
    page.socket.write(first);
    expect(await page.next()).toMatchObject({ error: { data: { code: 'bus.policy' } } });
    await page.ended();
  }
  expect(bus.log).not.toMatch(/at work/);
  expect(bus.log).not.toContain(token);
});

test('[BD6] a first line that nests thousands deep turns its stranger away, and nobody else', async () => {
  const client = await home.enter(where);
  const deep = `${'['.repeat(8_000)}${']'.repeat(8_000)}`;
  const stranger = await home.connect(where);
  stranger.socket.write(`{"id":1,"method":"stdio_bus/hello","params":{"a":${deep}}}\n`);
  expect(await stranger.next()).toMatchObject({ error: { data: { code: 'bus.policy' } } });
  await stranger.ended();
  expect((await client.ask('still there')).result).toMatchObject({ method: 'still there' });
});

test('[BD21] the token was made for this user alone, and who shows it is served', async () => {
  expect(statSync(home.path('.synod/bus-token')).mode & 0o777).toBe(0o600);
  expect(bus.log).toContain(`clients show the token in ${home.path('.synod/bus-token')}`);
  const client = await home.enter(where);
  expect((await client.ask('m')).result).toMatchObject({ method: 'm' });
});
