/** The rooms Work, Agents, Record and Health, end to end: each one's main job, in a real browser at a real hub. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NODES_READABLE } from '../../src/web/rooms/work/fold-plan.ts';
import { until } from '../e2e/deadline.ts';
import { tellTurns, tellWork } from './room-story.ts';
import { faultsIn, openScene, type Scene } from './scene.ts';

const BEAT_MS = 200;
let scene: Scene;
let page: Page;

beforeAll(async () => {
  scene = await openScene({ hooks: { vitalsMs: BEAT_MS } });
  await tellWork(scene.hub);
  page = await scene.enter({ width: 1280, height: 800 });
  await page.getByRole('main').waitFor();
}, 90_000);
afterAll(() => scene.close());

async function goTo(room: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(`#/${room}`)}`);
}

const column = (title: string) => page.getByRole('region', { name: new RegExp(`^${title}, `) });

test('[WI10] the board shows where tasks stand, follows what agents do, and a person moves one', async () => {
  await goTo('work');
  await column('In progress').getByText('Grammar without left recursion').waitFor();
  await column('Waits').getByText('needs grammar').waitFor();
  await scene.hub.ask('gemini', 'claims_take', { task_id: 'logo' });
  await column('In progress').getByText('A logo that is not a hexagon').waitFor();
  await column('Waits').getByText('Release 2.0').click();
  const aside = page.getByRole('complementary', { name: 'A task' });
  await aside.getByText('fuzz').waitFor();
  await aside.getByLabel('A note on this task').fill('After the summer.');
  await aside.getByRole('button', { name: 'Note' }).click();
  await aside.getByText('After the summer.').waitFor();
  await aside.getByRole('button', { name: 'Cancel', exact: true }).click();
  await column('Done').getByText('Release 2.0').waitFor();
  await page.keyboard.press('Escape');
  await aside.waitFor({ state: 'detached' });
  const { tasks } = await scene.hub.ask('claude', 'plan_board', { status: 'cancelled' });
  expect(tasks).toMatchObject([{ task_id: 'release' }]);
});

test('[WI11] hundreds of tasks are a graph that can be read, and the keyboard reaches its nodes', async () => {
  await goTo('work/graph');
  const graph = page.getByRole('region', { name: 'The plan as a graph' });
  await graph
    .getByRole('link', { name: /^open: Tree with positions .*depends on grammar$/ })
    .waitFor();
  await page.keyboard.press('j');
  expect(await page.evaluate('document.activeElement?.textContent')).toContain('Grammar without');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'A task' }).getByText('needed by').waitFor();
  await page.keyboard.press('Escape');
  const declare = (i: number): Promise<unknown> => {
    const depends_on = i < 20 ? [] : [...new Set([`t${i % 20}`, `t${(i * 7) % 20}`])];
    const task = { task_id: `t${i}`, title: `task ${i}`, depends_on, project: 'large' };
    return scene.hub.ask('claude', 'plan_declare', task);
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => declare(i)));
  await Promise.all(Array.from({ length: 120 }, (_, i) => declare(20 + i)));
  await page.getByLabel('Project').selectOption('large');
  await graph
    .getByText(/\d+ tasks$/)
    .first()
    .waitFor();
  const nodes = await graph.getByRole('listitem').count();
  expect(nodes).toBeGreaterThan(5);
  expect(nodes).toBeLessThanOrEqual(NODES_READABLE);
  await page.getByLabel('Project').selectOption('');
});

test('[WI12] what is held is on a tree of files with who waits for it, and a person frees it', async () => {
  await goTo('work/claims');
  const tree = page.getByRole('region', { name: '/', exact: true });
  await tree.getByText('src/').waitFor();
  await tree
    .getByRole('link', { name: /claude.*grammar.*topic\/grammar/ })
    .first()
    .click();
  const waits = page.getByRole('region', { name: 'Who waits for what is held' });
  await waits.getByText('gemini').waitFor();
  await waits.getByText('claude').waitFor();
  const aside = page.getByRole('complementary', { name: 'A claim' });
  await aside.getByRole('button', { name: 'Release…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Release', exact: true }).click();
  await aside.getByText('Nobody holds this').waitFor();
  await waits.getByText('may take').waitFor();
  const { claims } = await scene.hub.ask('claude', 'claims_list', { owner: 'claude' });
  expect(claims).toEqual([]);
});

test('[WI13] an agent is there with its evidence, its turn is heard as it speaks, and is cancelled', async () => {
  await tellTurns(scene.hub);
  await goTo('agents');
  const waiting = page.getByRole('region', { name: 'Wait for a person' });
  await waiting.getByText('keep the old token shape?').waitFor();
  await waiting.getByText('reviewer').click();
  const aside = page.getByRole('complementary', { name: 'An agent' });
  await aside.getByText('$0.42 of $2.00, $1.58 left').waitFor();
  await aside.getByText('done', { exact: true }).waitFor();
  await aside.getByRole('button', { name: 'Resume' }).click();
  await aside.getByRole('button', { name: 'Pause' }).waitFor();
  await goTo('agents/nightly');
  await aside.getByText('It has had none yet.').waitFor();
  await scene.hub.ask('codex', 'send', { channel: 'nightly', body: { text: 'run the suite' } });
  await aside.getByRole('link', { name: /^busy/ }).click();
  const turn = page.getByRole('complementary', { name: 'A turn' });
  await turn.getByText('412 passed').waitFor();
  await turn.getByText('a message of codex on nightly').waitFor();
  await turn.getByRole('button', { name: 'Cancel the turn…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Cancel the turn', exact: true }).click();
  await turn.getByText('cancelled', { exact: true }).waitFor();
  await turn.getByRole('button', { name: 'Retry' }).waitFor();
});

test('[WI14] the slider shows every room as it was, nothing can be done there, and now is a key away', async () => {
  const then = (await scene.hub.admin('status')).entries;
  await scene.hub.ask('claude', 'plan_declare', { task_id: 'later', title: 'Thought of later' });
  await scene.hub.ask('latecomer', 'presence_report', { state: 'idle' });
  await goTo('work/board/lexer');
  await column('Ready').getByText('Thought of later').waitFor();
  const slider = page.getByRole('slider', { name: 'The record in time' });
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  const band = page.getByText(/^As it was at \d\d:\d\d, position /);
  await band.waitFor();
  let shown = Number.POSITIVE_INFINITY;
  await until(
    'the slider stands before the task',
    async () => {
      await page.keyboard.press('ArrowLeft');
      shown = Number((await band.textContent())?.replace(/.*position |,/g, ''));
    },
    () => shown <= then,
  );
  await column('Ready').getByText('Thought of later').waitFor({ state: 'detached' });
  await column('In progress').getByText('Cut the text into tokens').waitFor();
  const acts = page.getByRole('complementary').getByRole('button', { name: 'Mark done' });
  expect(await acts.isDisabled()).toBe(true);
  await goTo('agents');
  await page.getByRole('region', { name: 'Working' }).getByText('nightly').count();
  await page.getByText('claude').first().waitFor();
  expect(await page.getByText('latecomer').count()).toBe(0);
  await page.getByRole('main').focus();
  await page.keyboard.press('\\');
  await band.waitFor({ state: 'detached' });
  await page.getByText('latecomer').waitFor();
});

test('[WI15] Record tells whether the chain holds, and Health asks only while it is looked at', async () => {
  await goTo('record');
  const chain = page.getByRole('region', { name: 'The chain' });
  await chain.getByText((await scene.hub.admin('record_head')).head).waitFor();
  const done = page.getByRole('region', { name: 'What was done' });
  await done.getByText('turn cancelled').first().waitFor();
  await done.getByLabel('What was done').fill('claim.released');
  await done.getByRole('button', { name: 'Look' }).click();
  await done.getByText('turn cancelled').first().waitFor({ state: 'detached' });
  await done.getByText('claim released').first().click();
  await done.getByRole('button', { name: 'See everything as it was then' }).first().click();
  await page.getByText(/^As it was at /).waitFor();
  await chain.getByText('The chain and what vouches for it are those of now.').waitFor();
  await page.getByRole('button', { name: 'Back to now' }).click();
  let asked = 0;
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      if (payload.includes('hub.vitals')) asked++;
    }),
  );
  await goTo('health');
  await page.reload();
  await page.getByRole('figure').filter({ hasText: 'Until it is durable' }).waitFor();
  await page.getByText(/^sqlite, /).waitFor();
  await page.getByText('Nobody was cut off for not reading.').waitFor();
  await until(
    'it is asked again',
    () => pause(50),
    () => asked >= 3,
  );
  await goTo('record');
  await chain.waitFor();
  const before = asked;
  const sampledAt = async (): Promise<number> =>
    (await scene.hub.admin('vitals')).samples.at(-1).at;
  const enough = (await sampledAt()) + 3 * (BEAT_MS / 1_000);
  await until('three more samples are taken', sampledAt, (at) => at >= enough);
  expect(asked).toBe(before);
});

test('[WI10] [WI12] what others wrote is text in these rooms, whatever it pretends to be', async () => {
  const trick = '<img src=x onerror=alert(1)>\u202egnp.exe';
  // First of all: what is only said of oneself is asked for again when something else happens.
  await scene.hub.ask('claude', 'presence_report', { state: 'busy', note: trick });
  await scene.hub.ask('claude', 'plan_declare', { task_id: 'trick', title: trick });
  await scene.hub.ask('claude', 'claims_take', {
    ...{ task_id: 'trick', paths: ['src/<b>bold'], worktree: '/srv/parser', note: trick },
    branch: 'topic/trick',
  });
  await scene.hub.ask('claude', 'plan_progress', { task_id: 'trick', text: trick });
  for (const room of ['work/board/trick', 'work/graph/trick', 'work/claims/trick', 'agents']) {
    await goTo(room);
    await page.getByText('<img src=x onerror=alert(1)>\\u{202e}gnp.exe').first().waitFor();
  }
  expect(await page.locator('img').count()).toBe(0);
  expect(await page.getByText('\u202e').count()).toBe(0);
});

test.each(['light', 'dark'] as const)(
  '[WI3] axe finds nothing in these rooms, %s, and on a phone nothing is wider than the screen',
  async (scheme) => {
    await page.emulateMedia({ colorScheme: scheme });
    const rooms = ['work', 'work/graph', 'work/claims', 'agents/reviewer', 'record', 'health'];
    expect(await faultsIn(page, goTo, rooms, scheme === 'light' ? [1280, 360] : [1280])).toEqual(
      [],
    );
  },
  60_000,
);

test('nothing went wrong on the page meanwhile', () => {
  expect(scene.troubles).toEqual([]);
});
