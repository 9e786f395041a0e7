/** The browser that comes from npm: Chromium without a head, driven by Playwright. */
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as driver } from 'playwright-core';

export async function openBrowser(): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  return driver.launch({ executablePath, args: chromium.args, headless: true });
}
