/** Runs of workflows on the page, in a real browser at a real hub: listed, drawn as they go, cancelled and gone on with. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NODES_READABLE } from '../../src/web/rooms/work/fold-plan.ts';
import { startRun, type ToldRun, tellRuns } from './run-story.ts';
import { faultsIn, openScene, type Scene } from './scene.ts';

let scene: Scene;
let page: Page;
let land: ToldRun;

beforeAll(async () => {
  scene = await openScene({});
  land = await tellRuns(scene.hub);
  page = await scene.enter({ width: 1280, height: 800 });
  await page.getByRole('main').waitFor();
}, 90_000);
afterAll(() => scene.close());

async function goTo(room: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${room}`)}`);
}

const graph = () => page.getByRole('region', { name: 'The run as a graph' });
const xOf = async (name: RegExp): Promise<number> =>
  (await graph().getByRole('link', { name }).boundingBox())?.x ?? Number.NaN;

test('[WI17] runs are listed with what they stand at and wait for, as they come', async () => {
  await goTo('work/runs');
  const list = page.getByRole('region', { name: 'Runs' });
  await list
    .getByRole('link', { name: /^running: land land-topic-lexer .*a person \(g1\)/ })
    .waitFor();
  await list.getByRole('link', { name: /^failed: import/ }).waitFor();
  await startRun(scene.hub, 'late', 'late-1');
  await list.getByRole('link', { name: /late-1/ }).waitFor();
  await list.getByRole('button', { name: 'Only those under way' }).click();
  await list.getByText('nightly-14').waitFor({ state: 'detached' });
  await list.getByText('land-topic-lexer').waitFor();
});

test('[WI17] a run is a graph that follows it: side by side what ran so, and each step opens', async () => {
  await goTo('work/runs/land-topic-lexer');
  await graph()
    .getByRole('link', { name: /^waits: publish/ })
    .waitFor();
  const [rebase, lint, unit, publish] = await Promise.all(
    [/: rebase/, /: lint/, /: unit/, /: publish/].map(xOf),
  );
  expect(lint).toBe(unit);
  expect(rebase).toBeLessThan(lint as number);
  expect(publish).toBeGreaterThan(lint as number);
  await land.record({ kind: 'completed', step: 'publish', result: 'approved' });
  await land.record({ kind: 'started', step: 'push' });
  await graph()
    .getByRole('link', { name: /^running: push/ })
    .waitFor();
  await graph()
    .getByRole('link', { name: /^completed: publish/ })
    .waitFor();
  await page.keyboard.press('j');
  await graph()
    .getByRole('link', { name: /: browser.*attempt 2$/ })
    .click();
  const step = page.getByRole('complementary', { name: 'A step' });
  await step.getByText('"passed": 38').waitFor();
  await page.keyboard.press('Escape');
  await step.waitFor({ state: 'detached' });
});

test('[WI17] a person cancels a run that is under way, and has one go on that failed', async () => {
  await page.getByRole('button', { name: 'Cancel the run…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click();
  await page.getByRole('button', { name: 'Cancel the run…' }).waitFor({ state: 'detached' });
  const { cancelling } = await scene.hub.ask('builder', 'workflows_get', { id: land.id });
  expect(cancelling).toBe('cancelled on the page');
  await goTo('work/runs/import-7');
  await page.getByText('row 812 has no date').first().waitFor();
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.getByRole('button', { name: 'Go on' }).waitFor({ state: 'detached' });
  const { over } = await scene.hub.ask('builder', 'workflows_get', { id: 'import-7' });
  expect(over).toBe(false);
});

test('[WI17] [WI5] hundreds of steps can be read, and what others wrote is text', async () => {
  const trick = '<img src=x onerror=alert(1)>\u202egnp.exe';
  const wide = await startRun(scene.hub, 'wide', 'wide-1');
  const entries = Array.from({ length: 240 }, (_, at) => ({
    ...{ kind: 'completed', step: 'fetch', key: `page ${at}` },
  }));
  await wide.record(...entries);
  await wide.record({ kind: 'failed', step: 'join', error: { name: 'Oops', message: trick } });
  await goTo('work/runs/wide-1/join');
  await page.getByText('<img src=x onerror=alert(1)>\\u{202e}gnp.exe').first().waitFor();
  expect(await page.locator('img').count()).toBe(0);
  const nodes = await graph().getByRole('listitem').count();
  expect(nodes).toBeGreaterThan(1);
  expect(nodes).toBeLessThanOrEqual(NODES_READABLE);
});

test.each(['light', 'dark'] as const)(
  '[WI3] axe finds nothing here, %s',
  async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    const rooms = ['work/runs', 'work/runs/import-7', 'work/runs/land-topic-lexer/browser'];
    expect(await faultsIn(page, goTo, rooms)).toEqual([]);
  },
  60_000,
);

test('nothing went wrong on the page meanwhile', () => {
  expect(scene.troubles).toEqual([]);
});
