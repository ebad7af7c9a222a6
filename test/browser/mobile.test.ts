import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/harness.js';
import { violations } from './axe.js';
import { useBrowser } from './chromium.js';
import { type ElementPage, ElementSite } from './element-page.js';

const PHONE = {
  viewport: { width: 375, height: 667 },
  isMobile: true,
  hasTouch: true,
  reducedMotion: 'reduce',
} as const;
const browser = useBrowser();
let site: ElementSite;
beforeAll(async () => {
  site = await ElementSite.start();
});
afterAll(() => site.close());

const boxOf = ({ run }: ElementPage): Promise<number[]> =>
  run(
    `const { left, top, width, height } = test.element.shadowRoot.querySelector('.panel').getBoundingClientRect(); return [left, top, width, height]`,
  );
const open = async (options: object = PHONE, script = ''): Promise<ElementPage> => {
  const context = await browser.visitor(options);
  if (script !== '') await context.addInitScript(script);
  const shown = await site.visit(context, { sound: '' });
  await shown.page.locator('agent-chat .launcher').click();
  return shown;
};

describe('on a phone', () => {
  it('the panel covers the screen and keeps the focus, and gives both back', async () => {
    const shown = await open();
    const { page, run } = shown;
    expect(await boxOf(shown)).toEqual([0, 0, 375, 667]);
    const dialog = page.getByRole('dialog');
    expect(await dialog.getAttribute('aria-modal')).toBe('true');
    expect(await page.locator('agent-chat .launcher').isVisible()).toBe(false);
    expect(await violations(page)).toEqual([]);
    const inside = () => run('return document.activeElement === test.element');
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press(step < 6 ? 'Tab' : 'Shift+Tab');
      expect(await inside()).toBe(true);
    }
    await run('document.activeElement.blur()');
    await page.keyboard.press('Tab');
    expect(await inside()).toBe(true);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await run(`return test.element.shadowRoot.activeElement.className`)).toBe('launcher');
    await page.getByLabel('Search').focus();
    await page.keyboard.press('Shift+Tab');
    expect(await inside()).toBe(false);
    expect(shown.problems).toEqual([]);
  });

  it('two widgets lock the page only while one of them covers it', async () => {
    const { run } = await open();
    const overflow = await run<string[]>(`
      const other = document.createElement('agent-chat');
      other.setAttribute('session-endpoint', '/session');
      other.setAttribute('storage-key', 'other');
      document.body.append(other);
      await new Promise(requestAnimationFrame);
      other.open();
      const seen = [];
      for (const each of [test.element, other]) {
        each.close();
        seen.push(document.documentElement.style.overflow);
      }
      return seen;`);
    expect(overflow).toEqual(['hidden', '']);
  });

  it('the page behind stays where it is', async () => {
    const { page, run } = await site.visit(await browser.visitor(PHONE));
    await run(`document.documentElement.style.setProperty('overflow', 'clip auto'); scrollTo(0, 300);`);
    await page.locator('agent-chat .launcher').click();
    expect(await run('return [getComputedStyle(document.documentElement).overflow, scrollY]')).toEqual(['hidden', 300]);
    await run('test.element.close()');
    expect(await run('return [document.documentElement.style.overflow, scrollY]')).toEqual(['clip auto', 300]);
  });

  it('the page moves again when the last of two widgets is closed', async () => {
    const { run } = await site.visit(await browser.visitor(PHONE));
    const overflow = 'return document.documentElement.style.overflow';
    await run(`
      test.other = document.createElement('agent-chat');
      for (const [name, value] of [['session-endpoint', '/b'], ['storage-key', 'b']]) test.other.setAttribute(name, value);
      document.body.append(test.other);
      test.element.open();
      test.other.open();`);
    await until(async () => (await run(overflow)) === 'hidden', 'the page is held');
    await until(() => run(`return test.other.shadowRoot.querySelector('[aria-modal]') !== null`), 'both are open');
    await run('test.element.close()');
    expect(await run(overflow)).toBe('hidden');
    await run('test.other.close()');
    expect(await run(overflow)).toBe('');
  });

  it('a very low screen has a low header', async () => {
    const { run } = await open({ ...PHONE, viewport: { width: 600, height: 300 } });
    await until(() => run(`return test.element.shadowRoot.querySelector('.header') !== null`), 'the panel is drawn');
    const height = `return test.element.shadowRoot.querySelector('.header').getBoundingClientRect().height`;
    expect(await run(height)).toBeLessThanOrEqual(45);
  });

  it('the on-screen keyboard does not cover the input, and zooming does not shrink the panel', async () => {
    const shown = await open(
      PHONE,
      `const view = Object.assign(new EventTarget(), { height: 667, offsetTop: 0, scale: 1 });
       Object.defineProperty(window, 'visualViewport', { value: view });`,
    );
    const change = (height: number, offsetTop: number, scale = 1) =>
      shown.run(
        `Object.assign(visualViewport, { height: ${height}, offsetTop: ${offsetTop}, scale: ${scale} }); visualViewport.dispatchEvent(new Event('resize'));`,
      );
    await change(380, 40);
    expect(await boxOf(shown)).toEqual([0, 40, 375, 380]);
    await change(300, 90, 2);
    expect(await boxOf(shown)).toEqual([0, 0, 375, 667]);
    await change(380, 40);
    await shown.run('test.element.close(); test.element.open();');
    expect(await boxOf(shown)).toEqual([0, 40, 375, 380]);
  });

  it('fingers hit every target, and the browser does not zoom into the input', async () => {
    const { page, run } = await open();
    await page.getByRole('button', { name: 'More options' }).click();
    const small = await run(`
      return [...test.element.shadowRoot.querySelectorAll('.header button, .composer button')]
        .filter((button) => button.checkVisibility())
        .map((button) => [button.className, button.getBoundingClientRect()])
        .filter(([, { width, height }]) => width < 44 || height < 44)
        .map(([name]) => name)`);
    expect(small).toEqual([]);
    expect(
      await run(`return parseFloat(getComputedStyle(test.element.shadowRoot.querySelector('textarea')).fontSize)`),
    ).toBeGreaterThanOrEqual(16);
  });

  it('in landscape the panel covers the screen too, and a turned screen of a desktop does not', async () => {
    const shown = await open({ ...PHONE, viewport: { width: 740, height: 360 } });
    expect(await boxOf(shown)).toEqual([0, 0, 740, 360]);
    expect(await shown.page.getByRole('dialog').getAttribute('aria-modal')).toBe('true');
    await shown.page.setViewportSize({ width: 1000, height: 700 });
    await until(
      async () => (await shown.page.getByRole('dialog').getAttribute('aria-modal')) === null,
      'the panel is no longer modal',
    );
    expect(await shown.run('return document.documentElement.style.overflow')).toBe('');
  });

  it('nothing moves for visitors who want little motion', async () => {
    const { run } = await open();
    expect(await run('return test.element.shadowRoot.getAnimations().length')).toBe(0);
  });
});
