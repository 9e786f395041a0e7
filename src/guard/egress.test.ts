/** The way out of the sandbox: real children that ask for what they may and for what they may not. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GuardDecision } from './decision.ts';
import { createGuard } from './guard.ts';
import type { ConnectRule } from './policy.ts';
import { findSandbox } from './sandbox.ts';

const node = process.execPath;
const { isThere, why } = await findSandbox();

const seen: string[] = [];
const http = createServer((request, response) => {
  seen.push(`${request.method} ${request.headers.host}${request.url}`);
  request.pipe(response);
});
const lines = createTcpServer((socket) => socket.end('hello from afar'));
let httpPort: number;
let linePort: number;
beforeAll(async () => {
  http.listen(0, '127.0.0.1');
  lines.listen(0, '127.0.0.1');
  await Promise.all([once(http, 'listening'), once(lines, 'listening')]);
  httpPort = (http.address() as AddressInfo).port;
  linePort = (lines.address() as AddressInfo).port;
});
afterAll(() => {
  http.close();
  lines.close();
});

async function run(connect: readonly ConnectRule[], script: string) {
  const told: GuardDecision[] = [];
  const guard = createGuard(
    { execute: [{ program: node, args: ['-e', '**'] }], connect },
    { lookup: async () => ['127.0.0.1'], record: (decision) => void told.push(decision) },
  );
  const { child, decision } = await guard.spawn(node, ['-e', script, 'an', '--argument'], {
    enforcement: 'os',
  });
  const [out, errors] = await Promise.all([
    text(child.stdout as NodeJS.ReadableStream),
    text(child.stderr as NodeJS.ReadableStream),
    once(child, 'close'),
  ]);
  return { out: out + errors, decision, told, child };
}

const addresses = ['127.0.0.1'];
/** By the proxy in its environment, as programs do; written out, so that nothing is left to a library. */
const TUNNEL = `
  const tunnel = (authority) => new Promise((resolve) => {
    const { hostname, port } = new URL(process.env.HTTPS_PROXY);
    require('node:http').request({ hostname, port, method: 'CONNECT', path: authority })
      .on('connect', (response, socket, head) => {
        if (response.statusCode !== 200) return resolve(response.statusCode);
        if (head.length > 0) return resolve(String(head));
        socket.once('data', (data) => { resolve(String(data)); socket.destroy(); });
      }).on('error', (error) => resolve(error.code)).end();
  });`;

/** Node sends it in the clear to the proxy of its environment. */
const IN_THE_CLEAR = `
  const ask = (method, url) => new Promise((resolve) => {
    require('node:http').request(url, { method }, async (response) => {
      let said = '';
      for await (const chunk of response) said += chunk;
      resolve(response.statusCode + ' ' + said.trim());
    }).on('error', (error) => resolve(error.code)).end('hi there');
  });`;

describe.skipIf(!isThere)(`out of the sandbox (${why})`, () => {
  test('[PO14] a program reaches by its proxy what the policy allows, and nothing else', async () => {
    seen.length = 0;
    const rule: ConnectRule = { scheme: 'http', host: 'api.test', port: httpPort, addresses };
    const { out, told, decision } = await run(
      [{ ...rule, methods: ['POST'] }],
      `${IN_THE_CLEAR}
      (async () => {
        console.log(process.argv.slice(1).join(' '));
        console.log(await ask('POST', 'http://api.test:${httpPort}/echo'));
        console.log(await ask('PUT', 'http://api.test:${httpPort}/echo'));
        console.log(await ask('POST', 'http://other.test:${httpPort}/echo'));
        console.log(await ask('POST', 'http://127.0.0.1:${httpPort}/echo'));
      })();`,
    );
    const no =
      '403 no rule covers this scheme, host, port and method together: add one to `connect`';
    expect(out.trim().split('\n')).toEqual(['an --argument', '200 hi there', no, no, no]);
    expect(seen).toEqual([`POST api.test:${httpPort}/echo`]);
    expect(decision.gaps?.join()).toContain('HTTP_PROXY');
    expect(told.map(({ kind, allowed }) => `${kind} ${allowed}`)).toEqual([
      ...['execute true', 'connect true', 'connect false', 'connect false', 'connect false'],
    ]);
  });

  test('[PO14] a program that knows of proxies needs to know nothing else', async () => {
    const host = 'api.test';
    const { out } = await run(
      [{ scheme: 'http', host, port: httpPort, addresses, methods: ['*'] }],
      `fetch('http://api.test:${httpPort}/', { method: 'POST', body: 'by fetch' })
        .then((response) => response.text()).then(console.log, (error) => console.log(error.cause));`,
    );
    expect(out).toContain('by fetch');
  });

  test('[PO14] a tunnel needs a rule that allows whatever is in it', async () => {
    const script = `${TUNNEL}
      (async () => { for (const host of ['db.test', 'half.test', 'other.test'])
        console.log(await tunnel(host + ':${linePort}')); })();`;
    const { out } = await run(
      [
        { scheme: 'tcp', host: 'db.test', port: linePort, addresses },
        { scheme: 'https', host: 'half.test', port: linePort, addresses, methods: ['GET', 'POST'] },
      ],
      script,
    );
    expect(out.trim().split('\n')).toEqual(['hello from afar', '403', '403']);
    const whole = await run(
      [{ scheme: 'https', host: '*.test', port: linePort, addresses, methods: ['*'] }],
      script,
    );
    expect(whole.out.trim().split('\n')).toEqual(Array(3).fill('hello from afar'));
  });

  test('[PO14] beside the proxy there is no way, and a private address is none', async () => {
    const rule: ConnectRule = { scheme: 'https', host: '*', port: linePort, methods: ['*'] };
    const { out } = await run(
      [rule],
      `${TUNNEL}
      require('node:net').connect(${linePort}, '127.0.0.1')
        .on('connect', () => console.log('through')).on('error', async (error) => {
          console.log(error.code);
          console.log(await tunnel('127.0.0.1:${linePort}'), await tunnel('[::1]:${linePort}'), await tunnel('nonsense'));
        });`,
    );
    expect(out.trim().split('\n')).toEqual(['ECONNREFUSED', '403 403 403']);
  });

  test('[PO14] the way ends with the child, and its exit is the program’s', async () => {
    const guard = createGuard(
      {
        execute: [{ program: node, args: ['-e', '**'] }],
        connect: [{ scheme: 'https', host: 'a.test', methods: ['*'] }],
      },
      { lookup: async () => ['8.8.8.8'] },
    );
    const plan = await guard.plan(node, ['-e', '0'], { enforcement: 'os' });
    const at = plan.command.indexOf('/run/synod-guard');
    const dir = plan.command[at - 1] ?? '';
    expect([plan.decision.enforcement, existsSync(`${dir}/egress.sock`)]).toEqual(['os', true]);
    await plan.close();
    expect(existsSync(dir)).toBe(false);
    const { child } = await guard.spawn(node, ['-e', 'process.exit(7)'], { enforcement: 'os' });
    expect(await once(child, 'exit')).toEqual([7, null]);
  });
});
