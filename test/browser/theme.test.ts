import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/harness.js';
import { violations } from './axe.js';
import { useBrowser } from './chromium.js';
import { type ElementPage, ElementSite } from './element-page.js';

const browser = useBrowser();
let site: ElementSite;
beforeAll(async () => {
  site = await ElementSite.start();
});
afterAll(() => site.close());

type Scheme = 'light' | 'dark';

const visit = async (attributes: Readonly<Record<string, string>>, colorScheme: Scheme = 'light') => {
  const shown = await site.visit(await browser.visitor({ colorScheme }), attributes);
  await shown.page.locator('agent-chat .shell').waitFor({ state: 'attached' });
  return shown;
};
/** A custom property as the parts of the widget see it. */
const used = ({ run }: ElementPage, name: string): Promise<string> =>
  run(`return getComputedStyle(test.element.shadowRoot.querySelector('.panel')).getPropertyValue('${name}')`);

const FILL = `
  const chat = test.chats.at(-1);
  chat.message('user', 'Hello');
  chat.message('assistant', 'See [this](https://example.com) and \`code\`.');
  chat.message('user', 'And?', { status: 'unsent' });
  chat.set({ suggestions: ['Yes', 'No'], failure: { code: 'network', message: 'lost', terminal: false } });`;

describe.each<Scheme>(['light', 'dark'])('in %s', (scheme) => {
  it('everything can be read with any accent', async () => {
    const shown = await visit({ open: '', subtitle: 'Here for you' }, scheme);
    await shown.run(FILL);
    for (const accent of ['yellow', '#fefefe', '#010101', 'transparent', 'rgb(128 128 128)', 'rgb(0 90 200 / 30%)']) {
      const before = await used(shown, '--a');
      await shown.run(`test.element.setAttribute('accent', '${accent}')`);
      await until(async () => (await used(shown, '--a')) !== before, `${accent} is used`);
      expect({ accent, found: await violations(shown.page) }).toEqual({ accent, found: [] });
    }
    expect(shown.problems).toEqual([]);
  });

  it('menu, question, list of conversations, badge and teaser can be read', async () => {
    const attributes = { accent: 'yellow', teaser: 'Questions?' };
    const context = await browser.visitor({ colorScheme: scheme });
    await context.clock.install();
    const { page, run, problems } = await site.visit(context, attributes);
    await page.locator('agent-chat .launcher').waitFor();
    await run(`await test.element.send('Hello')`);
    await page.clock.runFor(5000);
    await page.locator('agent-chat .teaser').waitFor();
    const found = { closed: await violations(page), menu: [''], question: [''], list: [''] };
    await page.locator('agent-chat .launcher').click();
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More options' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await page.getByRole('button', { name: 'More options' }).click();
    found.menu = await violations(page);
    await page.keyboard.press('Escape');
    await choose('New conversation');
    found.question = await violations(page);
    await page.keyboard.press('Escape');
    await run(`test.lists.push([{ threadId: 't1', title: 'First', updatedAt: null }])`);
    await choose('Previous conversations');
    await page.locator('agent-chat .history-item').waitFor();
    found.list = await violations(page);
    expect(found).toEqual({ closed: [], menu: [], question: [], list: [] });
    expect(problems).toEqual([]);
  });
});

describe('colours', () => {
  it('of the page’s own are kept where they can be read, in any notation', async () => {
    const shown = await visit({ open: '' });
    await shown.run(
      `test.element.style.setProperty('--agent-chat-accent', 'oklch(45% 0.15 250)'); test.element.style.setProperty('--agent-chat-background', '#fdf6e3');`,
    );
    await until(async () => (await used(shown, '--b')) === 'rgb(253 246 227)', 'the background is used');
    const accent = await used(shown, '--a');
    expect(accent).toMatch(/^rgb\(0 \d+ 1[4-7]\d\)$/);
    expect(await used(shown, '--link')).toBe(accent);
    expect(await used(shown, '--at')).toBe('rgb(255 255 255)');
  });

  it('that cannot be read together are changed', async () => {
    const shown = await visit({ open: '' });
    await shown.run(`
      for (const name of ['background', 'text', 'muted', 'bubble', 'problem', 'accent', 'accent-text'])
        test.element.style.setProperty('--agent-chat-' + name, '#888');`);
    await until(async () => (await used(shown, '--t')) === 'rgb(0 0 0)', 'the text is black');
    await shown.run(FILL);
    expect(await violations(shown.page)).toEqual([]);
  });

  it('follow a class of the page, the system and the attribute', async () => {
    const shown = await visit({ open: '' });
    const { page, run } = shown;
    const accentIs = (color: string) =>
      until(async () => (await used(shown, '--a')) === color, `the accent is ${color}`);
    await accentIs('rgb(47 82 217)');
    await run(`
      const sheet = new CSSStyleSheet();
      sheet.replaceSync('.brand agent-chat { --agent-chat-accent: rgb(10 125 85) }');
      document.adoptedStyleSheets = [sheet];
      document.documentElement.className = 'brand';`);
    await accentIs('rgb(10 125 85)');
    await run(`document.documentElement.className = '';`);
    await accentIs('rgb(47 82 217)');
    await page.emulateMedia({ colorScheme: 'dark' });
    await accentIs('rgb(157 180 255)');
    await run(`test.element.setAttribute('theme', 'light')`);
    await accentIs('rgb(47 82 217)');
    await run(`test.element.setAttribute('theme', 'auto')`);
    await accentIs('rgb(157 180 255)');
    await run(`test.element.setAttribute('accent', 'nonsense')`);
    await accentIs('rgb(157 180 255)');
  });
});

describe('the corner', () => {
  const left = ({ run }: ElementPage, part: string): Promise<number> =>
    run(
      `const { left, right } = test.element.shadowRoot.querySelector('${part}').getBoundingClientRect(); return left < innerWidth - right ? left : right - innerWidth`,
    );

  it.each([
    ['the end of the line', {}, -20],
    ['the start of the line', { position: 'start' }, 20],
    ['the end in a right-to-left element', { dir: 'rtl' }, 20],
    ['the start in a right-to-left element', { dir: 'rtl', position: 'start' }, -20],
    ['the end in a page from left to right, for a language from right to left', { lang: 'ar' }, -20],
  ])('is at %s', async (_, attributes, place) => {
    const shown = await visit({ ...attributes, open: '' });
    expect([await left(shown, '.launcher'), await left(shown, '.panel')]).toEqual([place, place]);
  });

  it('moves by custom properties', async () => {
    const shown = await visit({});
    await shown.run(`test.element.style.setProperty('--agent-chat-offset-inline', '50px')`);
    expect(await left(shown, '.launcher')).toBe(-50);
  });
});

describe('the language', () => {
  it('of the page is drawn first, and changes in place', async () => {
    const shown = await visit({ lang: 'de', open: '' });
    const { page, run } = shown;
    const input = page.locator('agent-chat textarea');
    const german = await input.getAttribute('placeholder');
    expect(german).not.toBe('Write a message');
    await input.fill('Entwurf');
    await run(`test.element.removeAttribute('lang'); document.documentElement.lang = 'ar';`);
    const panel = page.locator('agent-chat .panel');
    await until(async () => (await panel.getAttribute('dir')) === 'rtl', 'the panel is in Arabic');
    await until(async () => (await input.getAttribute('placeholder')) !== german, 'the texts are in Arabic');
    expect(await input.inputValue()).toBe('Entwurf');
    await run(`test.element.strings = { placeholder: 'Own' }; document.documentElement.lang = 'en';`);
    await until(async () => (await panel.getAttribute('dir')) === 'ltr', 'the panel is in English');
    expect(await input.getAttribute('placeholder')).toBe('Own');
    expect(await run('return test.chats.length')).toBe(1);
  });
});

describe('the page around the element', () => {
  it('changes language and direction from any ancestor, through shadow trees', async () => {
    const { page, run } = await visit({ open: '' });
    await run(`
      test.outer = document.createElement('section');
      const host = document.createElement('div');
      const inner = document.createElement('div');
      host.attachShadow({ mode: 'open' }).append(inner);
      test.outer.append(host);
      document.body.append(test.outer);
      inner.append(test.element);`);
    const panel = page.locator('agent-chat .panel');
    const input = page.locator('agent-chat textarea');
    await run(`await new Promise(requestAnimationFrame); test.outer.lang = 'de'`);
    await until(
      async () => ((await input.getAttribute('placeholder')) ?? 'Write a message') !== 'Write a message',
      'the texts are in German',
    );
    await run(`test.outer.dir = 'rtl'`);
    await until(async () => (await panel.getAttribute('dir')) === 'rtl', 'the panel is from right to left');
  });

  it('is printed without the widget', async () => {
    const { page } = await visit({});
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('agent-chat .launcher').isVisible()).toBe(false);
  });
});

describe('pictures that cannot be loaded', () => {
  it('are replaced: avatars by the letter, the icon by the built-in one, images of replies by a link', async () => {
    const context = await browser.visitor();
    await context.route('https://shop.example/**', (route) => route.abort());
    const avatar = 'https://shop.example/a.png';
    const looks = { heading: 'Shop', avatar, 'launcher-icon': avatar, 'image-origins': 'https://shop.example' };
    const { page, run } = await site.visit(context, looks);
    await page.locator('agent-chat .launcher-icon svg').waitFor();
    await page.locator('agent-chat .launcher').click();
    await page.locator('agent-chat .header-avatar', { hasText: 'S' }).waitFor();
    await page.locator('agent-chat .greeting .avatar', { hasText: 'S' }).waitFor();
    await run(`test.chats[0].reply('![A bike](https://shop.example/bike.png)')`);
    const link = page.getByRole('link', { name: 'A bike' });
    await link.waitFor();
    expect(await link.getAttribute('href')).toBe('https://shop.example/bike.png');
  });
});

describe('a long greeting', () => {
  it('leaves room for the conversation', async () => {
    const { page } = await visit({ open: '', greeting: 'Welcome to our shop. '.repeat(300) });
    const box = await page.locator('agent-chat .greeting .bubble').boundingBox();
    expect(box?.height).toBeLessThan(400);
  });
});
