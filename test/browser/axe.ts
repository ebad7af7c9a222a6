import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The violations that axe finds in the whole page. */
export async function violations(page: Page): Promise<string[]> {
  // Elements that fade in have less contrast until they are shown.
  await page.evaluate(
    `Promise.all(document.querySelector('agent-chat').shadowRoot.getAnimations().filter((each) => each.effect.getComputedTiming().iterations !== Infinity).map(({ finished }) => finished.then(() => undefined, () => undefined)))`,
  );
  // Like an extension of the browser, because the page's policy blocks other scripts.
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    `axe.run().then(({ violations }) => violations)`,
  );
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
