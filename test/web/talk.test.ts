/** The room Talk, end to end: what agents say is there as it is said, a person answers, and sees who read it. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { axeFinds, openScene, type Scene } from './scene.ts';

let scene: Scene;
let page: Page;

beforeAll(async () => {
  scene = await openScene();
  await scene.hub.ask('codex', 'subscribe', { pattern: 'general' });
  page = await scene.enter({ at: '#/talk/general' });
  await page.getByText('Nothing was said here yet').waitFor();
});
afterAll(() => scene.close());

const say = (text: string, channel = 'general') =>
  scene.hub.ask('codex', 'send', { channel, body: { text } });
const message = (words: string) => page.getByRole('article').filter({ hasText: words });

test('[WI2] what an agent says is there; a person answers with the keyboard, and sees who read it', async () => {
  await say('The build is red.');
  await message('The build is red.').waitFor();
  await page.keyboard.press('k');
  await page.locator('article:focus').waitFor();
  await page.keyboard.press('r');
  await page.keyboard.type('I am on it.');
  await page.keyboard.press('Enter');
  const mine = message('I am on it.');
  await mine.getByText('answers codex: The build is red.').waitFor();
  await mine.getByRole('button', { name: '1 owed' }).waitFor();
  const { messages } = await scene.hub.ask('codex', 'recv', {});
  expect(messages.at(-1)).toMatchObject({ sender: 'paula', body: { text: 'I am on it.' } });
  await mine.getByRole('button', { name: '1 read' }).click();
  await mine.getByRole('list', { name: 'Receipts' }).getByText('codex').waitFor();
});

test('[WI2] what is unread is counted, and is read once somebody stands at the end of it', async () => {
  const unread = page
    .getByRole('navigation', { name: 'Channels' })
    .getByRole('link', { name: /^ticket:42/ });
  await scene.hub.ask('codex', 'subscribe', { pattern: 'ticket:42' });
  await page.getByLabel('Go to a channel, or to an agent with @').fill('ticket:42');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Follow', exact: true }).click();
  await page.getByRole('button', { name: 'Follow no more' }).waitFor();
  await page.goto(page.url().replace(/#.*/, '#/talk/general'));
  await say('one', 'ticket:42');
  await say('two', 'ticket:42');
  await unread.getByText('2 unread').waitFor();
  await unread.click();
  await message('two').waitFor();
  await unread.getByText('unread').waitFor({ state: 'detached' });
  await page.goto(page.url().replace(/#.*/, '#/talk/general'));
});

test('a post has title, type and tier, and arrives as one', async () => {
  await page.getByRole('button', { name: 'Post' }).click();
  await page.getByLabel('Title of the post').fill('Drop the old shape');
  await page.getByLabel('Type of the post, if it has one').fill('decision');
  await page.getByLabel('Tier of the post').selectOption('1');
  await page.getByLabel('Write to general').fill('Nothing reads it since March.');
  await page.keyboard.press('Enter');
  await message('Drop the old shape').getByText('decision').waitFor();
  const { messages } = await scene.hub.ask('codex', 'recv', {});
  expect(messages.at(-1).body).toEqual({
    ...{ kind: 'post', title: 'Drop the old shape', type: 'decision', tier: 1 },
    text: 'Nothing reads it since March.',
  });
});

test('[WI16] a thread is read, answered and marked beside the talk, and says who marked it', async () => {
  const root = message('Drop the old shape');
  await root.focus();
  await page.keyboard.press('o');
  const thread = page.getByRole('complementary', { name: 'Thread' });
  await thread.getByText('0 replies').waitFor();
  const { messages } = await scene.hub.ask('codex', 'replay', { channel: 'general' });
  const reply_to = messages.at(-1).message_id;
  await scene.hub.ask('codex', 'send', { channel: 'general', body: { text: 'Yes.' }, reply_to });
  await thread.getByText('1 reply').waitFor();
  await thread.getByLabel('Reply to this thread').fill('Then let us do it.');
  await page.keyboard.press('Enter');
  await thread.getByText('2 replies').waitFor();
  await thread.getByRole('button', { name: 'Pin' }).click();
  await thread.getByRole('button', { name: 'Unpin' }).waitFor();
  await thread.getByRole('button', { name: 'Close thread…' }).click();
  await thread.getByLabel(/^Why is it closed/).fill('decided');
  await page.keyboard.press('Enter');
  await thread.getByText('closed by paula').waitFor();
  await thread.getByRole('button', { name: '2 marks' }).click();
  await thread.getByText('paula pinned it').waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await thread.waitFor({ state: 'detached' });
  await root.getByText('2 replies').waitFor();
  await root.getByText('pinned').waitFor();
});

test('[WI4] a slash searches, and what was found opens', async () => {
  await page.locator('main').focus();
  await page.keyboard.press('/');
  await page.keyboard.type('march');
  await page.keyboard.press('Enter');
  const found = page.getByRole('region', { name: 'What was found' });
  await found.getByRole('link', { name: /Nothing reads it since March/ }).waitFor();
  expect(await found.locator('mark').textContent()).toBe('March');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await message('The build is red.').first().waitFor();
});

test('[WI5] of a long channel a few rows are rendered, older ones come as they are scrolled to', async () => {
  const { hub } = scene;
  const client = createClient({ url: hub.url, token: hub.owner, agent: 'bob' });
  for (let i = 0; i < 3; i++) {
    await Promise.all(
      Array.from({ length: 200 }, (_, n) => client.send('long', { n: i * 200 + n })),
    );
  }
  await client.close();
  await page.goto(page.url().replace(/#.*/, '#/talk/long'));
  const list = page.getByRole('region', { name: 'Messages' });
  await list.getByText('599', { exact: true }).waitFor();
  expect(await list.getByRole('article').count()).toBeLessThan(80);
  await expect
    .poll(async () => {
      await list.evaluate((one) => {
        one.scrollTop = 0;
      });
      return list.getByRole('article').first().textContent();
    })
    .toMatch(/n0Reply/);
  expect(await list.getByRole('article').count()).toBeLessThan(80);
  await page.goto(page.url().replace(/#.*/, '#/talk/general'));
});

test('[WI5] a reader at the end stays there when the window is made smaller', async () => {
  await page.goto(page.url().replace(/#.*/, '#/talk/long'));
  const list = page.getByRole('region', { name: 'Messages' });
  const last = list.getByRole('article').filter({ has: page.getByText('599', { exact: true }) });
  const isInSight = async (): Promise<boolean> => {
    const [row, frame] = await Promise.all([last.boundingBox(), list.boundingBox()]);
    if (row === null || frame === null) return false;
    return row.y >= frame.y && row.y + row.height <= frame.y + frame.height;
  };
  await expect.poll(isInSight).toBe(true);
  await page.setViewportSize({ width: 360, height: 480 });
  await expect.poll(isInSight).toBe(true);
  // The browser tells of a scroll before the list has measured itself: that is nobody who scrolls away.
  for (const maxHeight of ['200px', '']) {
    await list.evaluate((one, to) => {
      one.style.maxHeight = to;
      one.scrollTop -= 1;
    }, maxHeight);
    await expect.poll(isInSight).toBe(true);
  }
  // Somebody who does scroll away is left there.
  const fromEnd = (): Promise<number> =>
    list.evaluate((one) => one.scrollHeight - one.scrollTop - one.clientHeight);
  await list.evaluate(
    (one) =>
      // The page has heard of it before the window changes.
      new Promise<void>((heard) => {
        one.addEventListener('scroll', () => requestAnimationFrame(() => heard()), { once: true });
        one.scrollTop -= 400;
      }),
  );
  await page.setViewportSize({ width: 360, height: 440 });
  await expect.poll(fromEnd).toBeGreaterThan(300);
  await page.setViewportSize({ width: 1024, height: 720 });
  await page.goto(page.url().replace(/#.*/, '#/talk/general'));
});

test('[WI3] who wants less motion sees none', async () => {
  await message('I am on it.').waitFor();
  const moves = `[...document.querySelectorAll('*')].filter((one) => {
    const { transitionDuration, animationName } = getComputedStyle(one);
    return transitionDuration !== '0s' || animationName !== 'none';
  }).length`;
  expect(await page.evaluate(moves)).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await page.evaluate(moves)).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
});

test('[WI3] axe finds nothing in light and dark', async () => {
  await message('I am on it.').waitFor();
  expect(await axeFinds(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFinds(page)).toEqual([]);
  expect(scene.troubles).toEqual([]);
});
