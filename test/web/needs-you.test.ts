/** The room Needs you, end to end: an agent asks with its token, a person decides on the page, the agent is told. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../e2e/running-hub.ts';
import { axeFinds, openScene, type Scene } from './scene.ts';

let scene: Scene;
let page: Page;
let token: string;
const PASSPHRASE = 'correct horse battery';

beforeAll(async () => {
  scene = await openScene();
  const { hub } = scene;
  await hub.admin('people_add', { name: 'paula', passphrase: PASSPHRASE });
  token = (await hub.admin('tokens_create', { agent_id: 'codex' })).token;
  page = await scene.enter();
  await page.getByRole('heading', { name: 'Needs you' }).waitFor();
});
afterAll(() => scene.close());

async function asCodex(operation: string, input: unknown): Promise<Json> {
  const { status, body } = await scene.hub.post(operation, input, {
    authorization: `Bearer ${token}`,
  });
  expect(status).toBe(200);
  return body;
}

const item = (words: string) => page.getByRole('listitem').filter({ hasText: words });

test('[WI1] a gate that an agent asks appears, is approved with a passphrase, and the agent is told', async () => {
  await page.getByText('Nothing waits for you').waitFor();
  const asked = await asCodex('gates_ask', {
    ...{ action: 'push', subject: 'topic → main', tier: 2, payload: { branch: 'topic' } },
  });
  const gate = item('codex wants to push: topic → main');
  await gate.waitFor();
  await gate.getByRole('button', { name: /wants to push/ }).click();
  await gate.getByText(asked.payload_hash).waitFor();
  await gate.getByRole('button', { name: 'Approve', exact: true }).click();
  await page.getByLabel('Passphrase of paula').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Prove', exact: true }).click();
  const told = await asCodex('gates_get', { gate_id: asked.gate_id, wait_ms: 60_000 });
  expect(told).toMatchObject({ state: 'approved', decided_by: 'paula' });
  await page.getByText('Nothing waits for you').waitFor();
  await page.getByText(/^proved as paula until/).waitFor();
});

test('[WI1] a denial says why, and within the quarter of an hour asks for no passphrase', async () => {
  const asked = { action: 'delete', subject: 'the archive' };
  const { gate_id } = await scene.hub.ask('gemini', 'gates_ask', asked);
  const gate = item('gemini wants to delete');
  await gate.getByRole('button', { name: 'Deny…' }).click();
  await gate.getByLabel(/^Why not\?/).fill('it is needed until May');
  await gate.getByRole('button', { name: 'Deny', exact: true }).click();
  const told = await scene.hub.ask('gemini', 'gates_get', { gate_id, wait_ms: 60_000 });
  expect(told).toMatchObject({ state: 'denied', reason: 'it is needed until May' });
});

test('[WI1] [WI3] a question is answered with the keyboard alone, and the answer is in the inbox', async () => {
  await scene.hub.ask('claude', 'docket_raise', { text: 'Keep the old token shape?' });
  await item('Keep the old token shape?').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.keyboard.type('No: drop it.');
  await page.keyboard.press('Enter');
  await item('Keep the old token shape?').waitFor({ state: 'detached' });
  const { messages } = await scene.hub.ask('claude', 'recv', {});
  expect(messages.at(-1).body).toMatchObject({ event: 'docket_answered', note: 'No: drop it.' });
});

test('[WI2] what another page decides leaves this one at once, and the one who looked is told', async () => {
  const other = await page.context().newPage();
  await other.goto(page.url());
  await scene.hub.ask('opencode', 'docket_raise', { text: 'Which branch?' });
  const [mine, theirs] = [page, other].map((one) =>
    one.getByRole('listitem').filter({ hasText: 'Which branch?' }),
  );
  await mine?.getByRole('button', { name: /Which branch/ }).click();
  await mine?.getByRole('button', { name: 'Take it' }).click();
  await theirs?.getByText('taken by you').waitFor();
  await theirs?.getByRole('button', { name: 'Answer…' }).click();
  await theirs?.getByLabel(/^Your answer/).fill('main');
  await theirs?.getByRole('button', { name: 'Answer', exact: true }).click();
  await mine?.waitFor({ state: 'detached' });
  await page.getByText(/is closed: answered by paula/).waitFor();
  await other.close();
});

test('[WI3] axe finds nothing in light and dark, with an item open', async () => {
  const { hub } = scene;
  await hub.ask('grok', 'gates_ask', { action: 'push', subject: 'again' });
  await hub.ask('grok', 'gates_ask', { action: 'push', subject: 'and again', tier: 2 });
  await item('grok wants to push: again').getByRole('button', { expanded: false }).first().click();
  await item('grok wants to push: and again').waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFinds(page)).toEqual([]);
  expect(scene.troubles).toEqual([]);
});
