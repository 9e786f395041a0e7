/**
 * A real hub, a real browser, and people who came in by a link: what the tests of the page begin with. One
 * hub and one browser a file. Whatever the page complained of is kept, and a test may ask for it.
 */
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { type HubOptions, openRunningHub, type RunningHub } from '../e2e/running-hub.ts';
import { openBrowser } from './browser.ts';

export interface Look {
  readonly name?: string;
  /** Where to go: `#/talk/general`. */
  readonly at?: string;
  readonly width?: number;
  readonly height?: number;
  readonly isDark?: boolean;
}

export interface Scene {
  readonly hub: RunningHub;
  readonly browser: Browser;
  /** A browser of its own for a person, who comes in by a link. */
  enter(look?: Look): Promise<Page>;
  /** What the pages of this scene said went wrong. */
  readonly troubles: readonly string[];
  close(): Promise<void>;
}

export async function openScene(options: HubOptions = {}): Promise<Scene> {
  const [browser, hub] = await Promise.all([openBrowser(), openRunningHub(options)]);
  const troubles: string[] = [];
  return {
    hub,
    browser,
    troubles,
    async enter(look = {}) {
      const context = await browser.newContext({
        viewport: { width: look.width ?? 1024, height: look.height ?? 720 },
        colorScheme: look.isDark === true ? 'dark' : 'light',
        reducedMotion: 'reduce',
      });
      const page = await context.newPage();
      page.setDefaultTimeout(60_000);
      page.on('console', (line) => line.type() === 'error' && troubles.push(line.text()));
      page.on('pageerror', (error) => troubles.push(error.message));
      const { url } = await hub.admin('web_link', { name: look.name ?? 'paula' });
      await page.goto(url);
      if (look.at !== undefined) await page.evaluate(`location.hash = ${JSON.stringify(look.at)}`);
      return page;
    },
    async close() {
      await browser.close();
      await hub.close();
    },
  };
}

/** What axe finds wrong with the page as it is now, each with the place. */
export async function axeFinds(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(`(async () => {
    const { violations } = await axe.run();
    return violations.flatMap((one) => one.nodes.map((node) => one.id + ': ' + node.target));
  })()`);
}

/** What is wrong in these rooms: what axe finds on a screen, and what is wider than a phone. */
export async function faultsIn(
  page: Page,
  goTo: (room: string) => Promise<void>,
  rooms: readonly string[],
  widths: readonly number[] = [1280, 360],
): Promise<string[]> {
  const found: string[] = [];
  for (const width of widths) {
    await page.setViewportSize({ width, height: 800 });
    for (const room of rooms) {
      await goTo(room);
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (width > 360) found.push(...(await axeFinds(page)).map((one) => `${room}: ${one}`));
      const wide = 'document.getElementById("room").scrollWidth - innerWidth';
      if (Number(await page.evaluate(wide)) > 0) found.push(`${room} is wider than ${width}`);
    }
  }
  return found;
}
