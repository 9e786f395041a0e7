/** People are told of what waits for them, once, by every way there is, whatever fails. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signatureOf } from '../../src/server/run/notice-ways.ts';
import { until } from './deadline.ts';
import { type Json, openRunningHub, type RunningHub } from './running-hub.ts';

interface Told {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly notice: Json;
}

let dir: string;
let receiver: Server;
let url: string;
let told: Told[] = [];
/** What the receiver answers next; 204 when there is nothing left. */
let answers: number[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'synod-notices-'));
  await writeFile(join(dir, 'secret'), 'a secret of the owner\n', { mode: 0o600 });
  receiver = createServer(async (request, response) => {
    const body = await text(request);
    told.push({ headers: request.headers, body, notice: JSON.parse(body) });
    response.writeHead(answers.shift() ?? 204).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterAll(async () => {
  receiver.close();
  await rm(dir, { recursive: true, force: true });
});

function open(notices: Json[], more: Json = {}): Promise<RunningHub> {
  told = [];
  const env = { PATH: `${join(dir, 'bin')}:${process.env.PATH}` };
  return openRunningHub({
    ...more,
    file: { notices, ...more.file },
    hooks: { env, notices: { gatherMs: 0, retryMs: [0, 0] } },
  });
}

/** A look at this process: whatever is under way goes on between two of them. */
function looked<T>(look: () => T): () => Promise<T> {
  return () => new Promise((resolve) => setImmediate(() => resolve(look())));
}

const webhook = () => ({ kind: 'webhook', url, secret_file: join(dir, 'secret') });
const toldCount = (count: number) =>
  until(
    `${count} were told`,
    looked(() => told),
    ({ length }) => length >= count,
  );

test('[DK10] a webhook hears of an item once, signed over the time, and not again after a restart', async () => {
  const home = join(dir, 'home');
  await mkdir(home);
  const first = await open([webhook()], { dir: home });
  await first.ask('ada', 'docket.raise', { text: 'Which port?' });
  await toldCount(1);
  const [{ headers, body, notice }] = told as [Told];
  const items = [{ item_id: 'd1', agent_id: 'ada', text: 'Which port?', is_reminder: false }];
  expect(notice).toMatchObject({ event: 'docket', space: 'default', open: 1, items });
  const time = Number(headers['x-synod-timestamp']);
  expect(Math.abs(Date.now() / 1000 - time)).toBeLessThan(60);
  const signature = `sha256=${signatureOf('a secret of the owner', time, body)}`;
  expect(headers['x-synod-signature']).toBe(signature);
  expect(signatureOf('a secret of the owner', time + 1, body)).not.toBe(signature.slice(7));
  await first.close();

  const second = await open([webhook()], { dir: home });
  await second.ask('bob', 'docket.raise', { text: 'And which host?' });
  await toldCount(1);
  expect(told.map((one) => one.notice.items.map((item: Json) => item.item_id))).toEqual([['d2']]);
  await second.close();
});

test('[DK10] what nobody took is told again after a while, and what somebody took is not', async () => {
  const hub = await open([webhook()], { file: { remind_after: 1 } });
  const { item } = await hub.ask('ada', 'docket.raise', { text: 'Still there?' });
  const taken = await hub.ask('bob', 'docket.raise', { text: 'And mine?' });
  await hub.admin('docket.take', { item_id: taken.item.item_id });
  const isReminded = looked((): Json[] =>
    told.flatMap((one) => one.notice.items).filter((one: Json) => one.is_reminder),
  );
  const reminded = await until('a reminder', isReminded, ({ length }) => length >= 2);
  expect(new Set(reminded.map((one: Json) => one.item_id))).toEqual(new Set([item.item_id]));
  await hub.close();
});

test('[DK10] a webhook that fails is asked again under one id, and in the end is a line in the log', async () => {
  answers = [500, 503];
  const hub = await open([webhook()]);
  await hub.ask('ada', 'docket.raise', { text: 'one' });
  await toldCount(3);
  expect(new Set(told.map(({ headers }) => headers['x-synod-notice'])).size).toBe(1);
  answers = [500, 500, 500];
  await hub.ask('bob', 'docket.raise', { text: 'two' });
  const lines = looked(() => hub.log.filter((line) => line.includes('nobody was told')));
  const [line] = await until('a line', lines, ({ length }) => length > 0);
  expect(line).toMatch(/^warn nobody was told of d2 by webhook: .* answered 500, after 3 attempts/);
  // What the receiver does not want is not repeated.
  answers = [410];
  await hub.ask('cyd', 'docket.raise', { text: 'three' });
  await until('a second line', lines, ({ length }) => length > 1);
  expect(told).toHaveLength(7);
  await hub.close();
});

test('[DK10] a command has it as JSON on its standard input, and one that fails costs nobody anything', async () => {
  const file = join(dir, 'heard');
  const heard = { kind: 'command', command: ['sh', '-c', `cat >> ${file}`] };
  const failing = { kind: 'command', command: ['sh', '-c', 'echo no mail here >&2; exit 3'] };
  const absent = { kind: 'command', command: ['no-such-program-of-anybody'] };
  const hub = await open([failing, absent, heard]);
  await hub.ask('ada', 'docket.raise', { text: 'a "quoted" $(question)' });
  const read = () => readFile(file, 'utf8').catch(() => '');
  const said = await until('it was heard', read, (one) => one.endsWith('\n'));
  expect(JSON.parse(said).items[0].text).toBe('a "quoted" $(question)');
  const lines = looked(() => hub.log.filter((line) => line.includes('nobody was told')));
  const failed = await until('two lines', lines, ({ length }) => length === 2);
  expect(failed.join()).toContain('sh ended with 3: no mail here');
  await hub.close();
});

test('[DK10] the desktop is told in plain text: words of an agent are neither options nor markup', async () => {
  const file = join(dir, 'shown');
  await mkdir(join(dir, 'bin'));
  const script = `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one"; done > ${file}.part\nmv ${file}.part ${file}\n`;
  for (const name of ['notify-send', 'osascript']) {
    await writeFile(join(dir, 'bin', name), script);
    await chmod(join(dir, 'bin', name), 0o755);
  }
  const hub = await open([{ kind: 'desktop' }]);
  await hub.ask('ada', 'docket.raise', {
    text: '--icon=x <a href="http://evil">Approve</a>\u202e',
  });
  const read = () => readFile(file, 'utf8').catch(() => '');
  const said = await until('it was shown', read, (one) => one.endsWith('\n'));
  const body = process.platform === 'darwin' ? '<a' : '&lt;a';
  expect(said.split('\n')).toContain('ada needs you');
  expect(said).toContain(`d1  --icon=x ${body}`);
  expect(said).toContain('\\u{202e}');
  await hub.close();
});

test('[DK10] a secret that others can read is told when the hub starts, and is not used', async () => {
  const secret = join(dir, 'open-secret');
  await writeFile(secret, 'x', { mode: 0o644 });
  const hub = await open([{ ...webhook(), secret_file: secret }]);
  const lines = looked(() => hub.log.filter((line) => line.includes('chmod 600')));
  await until('it is told', lines, ({ length }) => length > 0);
  await hub.ask('ada', 'docket.raise', { text: 'one' });
  await until('it fails', lines, ({ length }) => length > 1);
  expect(told).toEqual([]);
  await hub.close();
});
