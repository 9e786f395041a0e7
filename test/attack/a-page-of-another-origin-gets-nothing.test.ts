/**
 * A person is logged in, and in the same browser a page of another origin is open: a development server of an
 * agent on another port of this machine. For a browser that is the same site, so that it sends the cookie
 * along. The page tries every route in every way a page has, and neither learns nor changes anything.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { openBrowser } from '../web/browser.ts';

const ROUTES = [
  'GET /',
  'GET /assets/none.js',
  'GET /in/guess',
  'GET /health',
  'GET /openapi.json',
  'GET /metrics',
  'GET /v1/proof?nonce=0123456789abcdef',
  'GET /v1/stream',
  'POST /v1/ops/whoami',
  'POST /v1/ops/send',
  'POST /v1/ops/web_link',
  'POST /mcp',
  'GET /mcp',
  'POST /v1/hooks/claude',
];

let browser: Browser;
let hub: RunningHub;
let foreign: Server;
let context: BrowserContext;
let page: Page;
let home: string;
let before: string;
/** Every cookie that the foreign server was shown. */
const shown: string[] = [];

beforeAll(async () => {
  foreign = createServer((request, response) => {
    shown.push(request.headers.cookie ?? '');
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>evil</title>');
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  [browser, hub] = await Promise.all([openBrowser(), openRunningHub({ flags: { metrics: true } })]);
  home = `http://localhost:${hub.port}`;
  context = await browser.newContext();
  const own = await context.newPage();
  const { url } = await hub.admin('web_link', { name: 'paula' });
  await own.goto(url);
  await own.getByRole('main').waitFor();
  await own.close();
  page = await context.newPage();
  await page.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`);
});
afterAll(async () => {
  expect(await hub.mark()).toBe(before);
  await browser.close();
  await hub.close();
  foreign.close();
});

/** Runs a function of the foreign page; `hub` is the address of the hub. */
const inPage = <T>(body: string): Promise<T> =>
  page.evaluate(`(async (hub) => { ${body} })(${JSON.stringify(home)})`);

test('[WD3] it is shown the cookie and cannot see what the page keeps; the cookie alone opens nothing', async () => {
  const cookie = shown.find((one) => one.includes(`synod-${hub.port}=`));
  expect(cookie).toBeDefined();
  expect(await inPage('return document.cookie + localStorage.length')).toBe('0');
  for (const origin of [home, undefined]) {
    const headers = { host: `localhost:${hub.port}`, cookie, origin };
    expect((await hub.post('whoami', {}, headers)).status).toBe(401);
  }
  // That somebody came with a credential that opens nothing is on the record.
  before = await hub.mark();
});

describe.each(ROUTES)('%s', (route) => {
  const [method, path] = route.split(' ');

  test('[WD4] a fetch is not answered, with the cookie and whatever else', async () => {
    for (const wish of [
      { method, credentials: 'include' },
      { method, credentials: 'include', headers: { authorization: 'Bearer syw_guess' } },
    ]) {
      const got = await inPage(
        `return fetch(hub + ${JSON.stringify(path)}, ${JSON.stringify(wish)}).then((r) => r.status, () => 'nothing')`,
      );
      expect(got).toBe('nothing');
    }
  });

  test('[WD4] what is sent blind is turned away', async () => {
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.url().startsWith(home)) statuses.push(response.status());
    });
    const body = method === 'POST' ? `, body: '{"channel":"x","body":{"evil":1}}'` : '';
    const kind = await inPage(
      `return fetch(hub + ${JSON.stringify(path)}, { method: '${method}', mode: 'no-cors', credentials: 'include'${body} }).then((r) => r.type, () => 'nothing')`,
    );
    page.removeAllListeners('response');
    // Opaque, or not even that: the page sees neither status nor body.
    expect(['opaque', 'nothing']).toContain(kind);
    expect(new Set(statuses)).toEqual(new Set([403]));
  });
});

test('[WD4] no WebSocket opens, whatever it offers', async () => {
  for (const protocols of [
    [],
    ['synod.v1'],
    ['synod.v1', 'synod.token.c3l3X2d1ZXNz', 'synod.person'],
  ]) {
    const got = await inPage(`return new Promise((resolve) => {
      const ws = new WebSocket(hub.replace('http', 'ws') + '/ws', ${JSON.stringify(protocols)});
      ws.onopen = () => resolve('open');
      ws.onclose = () => resolve('closed');
    })`);
    expect(got).toBe('closed');
  }
});

test('[WD5] no image, script, frame or event stream of the hub loads in it', async () => {
  const index = await (await fetch(`${home}/`)).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(index)?.[1];
  const icon = /href="(\/assets\/[^"]+\.svg)"/.exec(index)?.[1];
  expect([script, icon]).not.toContain(undefined);
  const got = await inPage(`
    const load = (tag, set) => new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('error');
      set(element);
      document.body.append(element);
    });
    const events = new Promise((resolve) => {
      const source = new EventSource(hub + '/v1/stream', { withCredentials: true });
      source.onopen = () => resolve('open');
      source.onerror = () => { source.close(); resolve('error'); };
    });
    const frame = document.createElement('iframe');
    const framed = new Promise((resolve) => { frame.onload = resolve; });
    frame.src = hub + '/';
    document.body.append(frame);
    await framed;
    return [
      await load('script', (one) => { one.src = hub + ${JSON.stringify(script)}; }),
      await load('script', (one) => { one.type = 'module'; one.src = hub + ${JSON.stringify(script)}; }),
      await load('img', (one) => { one.src = hub + ${JSON.stringify(icon)}; }),
      await events,
    ].join();
  `);
  expect(got).toBe('error,error,error,error');
  const framed = page.frames().find((one) => one !== page.mainFrame());
  expect(await framed?.locator('#page').count()).toBe(0);
});

test('[WD5] a window it opens is out of its reach', async () => {
  const popup = context.waitForEvent('page');
  await page.evaluate(`window.opened = window.open(${JSON.stringify(`${home}/`)})`);
  const opened = await popup;
  await opened.waitForLoadState();
  expect(await opened.locator('#page').count()).toBe(0);
  expect(await opened.locator('body').textContent()).toContain('origin.foreign');
  await opened.close();
});

test('[WD4] a form it sends is turned away', async () => {
  const sender = await context.newPage();
  await sender.goto(page.url());
  const answered = sender.waitForResponse((response) => response.url().startsWith(home));
  await sender.evaluate(`(() => {
    const form = document.createElement('form');
    form.method = 'post';
    form.enctype = 'text/plain';
    form.action = ${JSON.stringify(`${home}/v1/ops/send`)};
    const field = document.createElement('input');
    field.name = '{"channel":"x","body":{"a":"';
    field.value = '"}}';
    form.append(field);
    document.body.append(form);
    form.submit();
  })()`);
  // The page goes with the browser: closing it waits for a document that was turned away.
  expect((await answered).status()).toBe(403);
});
