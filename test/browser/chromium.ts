import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
];

/** The folder of the screenshots. */
const PICTURES = process.env['WIDGET_PICTURES'] ?? join(tmpdir(), 'widget-pictures');

/** A visitor's browser: one process for the file, a fresh profile for each visitor. */
export function useBrowser(): { visitor(options?: Parameters<Browser['newContext']>[0]): Promise<BrowserContext> } {
  let browser: Browser | undefined;
  const contexts: BrowserContext[] = [];
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: FLAGS });
  });
  // Pages that stay open go on drawing, and slow the tests after them.
  afterEach(() => Promise.all(contexts.splice(0).map((context) => context.close())));
  afterAll(() => browser?.close());
  return {
    visitor: async (options = {}) => {
      if (!browser) throw new Error('The browser starts before the first test');
      const context = await browser.newContext({ viewport: { width: 1000, height: 760 }, ...options });
      contexts.push(context);
      return context;
    },
  };
}

export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: join(PICTURES, `${name}.png`) });
}
