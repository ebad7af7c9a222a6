import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/harness.js';
import { useBrowser } from './chromium.js';
import { type ElementPage, ElementSite } from './element-page.js';

const browser = useBrowser();
let site: ElementSite;
beforeAll(async () => {
  site = await ElementSite.start();
});
afterAll(() => site.close());

/** Another page of the site in the same tab. */
async function goOn({ page }: ElementPage, attributes: Readonly<Record<string, string>> = {}): Promise<void> {
  await page.goto(`${site.origin}/other?${new URLSearchParams(attributes).toString()}`);
  await page.locator('agent-chat .shell').waitFor({ state: 'attached' });
}
const isOpen = ({ page }: ElementPage): Promise<boolean> => page.locator('agent-chat .panel').isVisible();

describe('a navigation within the tab', () => {
  it('keeps the panel open, without the focus, an event or an animation', async () => {
    const shown = await site.visit(await browser.visitor());
    const { page, run } = shown;
    await page.locator('agent-chat .launcher').click();
    await goOn(shown);
    expect(await isOpen(shown)).toBe(true);
    expect(await run('return document.activeElement.localName')).toBe('body');
    expect(await run('return test.events')).toEqual(['ready']);
    expect(await run(`return getComputedStyle(test.element.shadowRoot.querySelector('.panel')).animationName`)).toBe(
      'none',
    );
    await page.getByRole('button', { name: 'Close chat' }).first().click();
    await goOn(shown);
    expect(await isOpen(shown)).toBe(false);
    expect(await run('return test.chats[0].calls')).toEqual([]);
  });

  it('keeps it closed in another tab, for another widget, and where the page decides', async () => {
    const context = await browser.visitor();
    const shown = await site.visit(context);
    await shown.page.locator('agent-chat .launcher').click();
    const other = await site.visit(context);
    await other.page.locator('agent-chat .launcher').waitFor();
    expect(await isOpen(other)).toBe(false);
    await goOn(shown, { 'storage-key': 'support' });
    expect(await isOpen(shown)).toBe(false);
    await goOn(shown, { 'restore-open': 'false' });
    expect(await isOpen(shown)).toBe(false);
    await goOn(shown);
    expect(await isOpen(shown)).toBe(true);
  });

  it('closes it in a browser that forbids storage, without an error', async () => {
    const context = await browser.visitor();
    await context.addInitScript(
      `Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('denied', 'SecurityError'); } })`,
    );
    const shown = await site.visit(context, { teaser: 'Hi', sound: '' });
    await shown.page.locator('agent-chat .launcher').click();
    await goOn(shown);
    expect(await isOpen(shown)).toBe(false);
    expect(shown.problems).toEqual([]);
  });
});

describe('a panel whose code cannot be loaded', () => {
  it('takes the focus when the visitor tries again', async () => {
    const context = await browser.visitor();
    await context.route('**/widget-panel-*.js', (route) => route.abort());
    const { page, run } = await site.visit(context);
    await page.locator('agent-chat .launcher').click();
    const again = page.getByRole('button', { name: 'Try again' });
    await again.waitFor();
    await context.unroute('**/widget-panel-*.js');
    await again.click();
    await until(
      () => run(`return test.element.shadowRoot.activeElement?.localName === 'textarea'`),
      'the focus is in the panel',
    );
  });
});

describe('a message that is sent while the chat connects', () => {
  const connecting = async (): Promise<ElementPage> => {
    const shown = await site.visit(await browser.visitor());
    await shown.run(`test.startsAs = 'connecting'`);
    await shown.page.locator('agent-chat .launcher').click();
    const input = shown.page.getByRole('textbox', { name: 'Message' });
    await input.fill('Hello');
    await input.press('Enter');
    return shown;
  };
  const becomesReady = ({ run }: ElementPage): Promise<string[]> =>
    run(`test.chats[0].set({ status: 'ready' }); return test.chats[0].calls`);

  it('goes when the chat is ready', async () => {
    const shown = await connecting();
    expect(await shown.page.locator('agent-chat .send').getAttribute('aria-busy')).toBe('true');
    await shown.run(`test.element.strings = { send: 'Go' }`);
    expect(await becomesReady(shown)).toEqual(['start', 'send Hello']);
    expect(await shown.page.locator('agent-chat .send').getAttribute('aria-busy')).toBe('false');
    expect(await shown.page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('');
  });

  it('stays when the visitor has changed it', async () => {
    const shown = await connecting();
    await shown.page.getByRole('textbox', { name: 'Message' }).press('!');
    expect(await becomesReady(shown)).toEqual(['start']);
    expect(await shown.page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Hello!');
  });
});

describe('a chat that has failed', () => {
  it('asks before it leaves its messages', async () => {
    const { page, run } = await site.visit(await browser.visitor());
    await page.locator('agent-chat .launcher').click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await run(`
      await test.element.send('Hello');
      test.chats[0].set({ status: 'failed', failure: { code: 'network', message: 'lost', terminal: true } });`);
    const startNew = page.locator('agent-chat .status').getByRole('button', { name: 'New conversation' });
    await startNew.click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await run(`return test.element.shadowRoot.activeElement.textContent`)).toBe('New conversation');
    expect(await run('return test.chats[0].calls')).not.toContain('new');
    await startNew.click();
    await page.getByRole('button', { name: 'Start new' }).click();
    await until(async () => (await run<string[]>('return test.chats[0].calls')).includes('new'), 'it is new');
  });
});
