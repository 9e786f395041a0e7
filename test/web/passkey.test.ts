/** A passkey in a real browser, with Chromium's own virtual device, at a real hub. */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { openBrowser } from './browser.ts';

const SECRET = 'correct horse battery';
const DEVICE = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

/** The page's own functions, as its rooms call them, over the page's own session. */
const SOURCE = new URL('../../src/web/store/passkey.ts', import.meta.url);
const FUNCTIONS = stripTypeScriptTypes(readFileSync(SOURCE, 'utf8')).replaceAll('export ', '');
const CLIENT = `{ async call(id, input) {
  const headers = { authorization: 'Bearer ' + localStorage.getItem('synod.page') };
  const body = JSON.stringify(input);
  const answer = await (await fetch('/v1/ops/' + id, { method: 'POST', headers, body })).json();
  if (answer.error_code) throw new Error(answer.detail.reason);
  sent.push({ id, input });
  return answer;
} }`;

let browser: Browser;
let hub: RunningHub;
let page: Page;
let foreign: Server;
let home: string;

beforeAll(async () => {
  foreign = createServer((_, response) => response.end('<!doctype html><title>evil</title>'));
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  [browser, hub] = await Promise.all([openBrowser(), openRunningHub()]);
  home = `http://localhost:${hub.port}/`;
  await hub.admin('people_add', { name: 'paula', passphrase: SECRET });
  page = await browser.newPage();
  const device = await page.context().newCDPSession(page);
  await device.send('WebAuthn.enable');
  await device.send('WebAuthn.addVirtualAuthenticator', { options: DEVICE });
  const { url } = await hub.admin('web_link', {});
  await page.goto(url);
  await page.getByRole('main').waitFor();
});
afterAll(async () => {
  await browser.close();
  await hub.close();
  foreign.close();
});

/** Runs in the page; what was refused comes back as its reason. */
function inPage<T>(body: string): Promise<T | string> {
  const script = `(async () => { const sent = []; const client = ${CLIENT}; ${FUNCTIONS}; ${body} })()`;
  return page.evaluate(`${script}.catch((error) => error.message)`);
}

/** An agent asks, the person says yes on the page and shows to be there; how, the gate says. */
async function approve(subject: string, show: () => Promise<void>): Promise<string> {
  const { gate_id } = await hub.ask('ada', 'gates_ask', { action: 'push', subject });
  const gate = page.getByRole('listitem').filter({ hasText: subject });
  await gate.getByRole('button', { name: 'Approve', exact: true }).click();
  await show();
  const told = await hub.ask('ada', 'gates_get', { gate_id, wait_ms: 60_000 });
  return `${told.state} by ${told.approvals[0]?.proof}`;
}

test('[PK1] [PK2] a person adds one after the passphrase, and from then on a touch decides a gate', async () => {
  expect(await inPage(`return proveByPasskey(client, 'paula')`)).toBe('passkey.not-found');
  const typed = await approve('first', async () => {
    await page.getByLabel('Passphrase of paula').fill(SECRET);
    await page.getByRole('button', { name: 'Prove', exact: true }).click();
  });
  expect(typed).toBe('approved by passphrase');
  await page.getByRole('button', { name: 'add a passkey' }).click();
  await page.getByText('this device has a passkey now').waitFor();
  await page.getByRole('button', { name: 'forget' }).click();
  const touched = await approve('second', () =>
    page.getByRole('button', { name: 'Use a passkey' }).click(),
  );
  expect(touched).toBe('approved by passkey');
  // Another takes the passphrase.
  await page.getByText(/^proved as paula until/).waitFor();
  expect(await page.getByRole('button', { name: 'add a passkey' }).count()).toBe(0);
});

test('[PK2] what was signed once is worth nothing again', async () => {
  const again = await inPage(`
    await proveByPasskey(client, 'paula');
    return client.call('people.passkey_prove', sent.at(-1).input);
  `);
  expect(again).toBe('input.invalid');
});

test('[PK2] what the same device signs for a page of another port proves nothing', async () => {
  const begun = (await inPage(
    `return client.call('people.passkey_begin', { purpose: 'prove' })`,
  )) as { challenge: string; passkey_ids: string[] };
  await page.goto(`http://localhost:${(foreign.address() as AddressInfo).port}/`);
  const signed = await inPage<{ passkey_id: string }>(`
    const begun = ${JSON.stringify(begun)};
    const publicKey = {
      challenge: bytesOf(begun.challenge), rpId: 'localhost', userVerification: 'required',
      allowCredentials: begun.passkey_ids.map(keyOf),
    };
    const { id, response } = await navigator.credentials.get({ publicKey });
    return {
      challenge: begun.challenge, passkey_id: id, client_data: textOf(response.clientDataJSON),
      authenticator_data: textOf(response.authenticatorData), signature: textOf(response.signature),
    };
  `);
  expect(signed).toMatchObject({ passkey_id: begun.passkey_ids[0] });
  await page.goto(home);
  const proved = await inPage(
    `return client.call('people.passkey_prove', ${JSON.stringify(signed)})`,
  );
  expect(proved).toBe('proof.wrong');
});
