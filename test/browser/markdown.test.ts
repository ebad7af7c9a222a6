import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { says } from '../support/scripted-models.js';
import { picture, useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let site: CustomerSite;

beforeAll(async () => {
  organization = await service.organization();
  site = await CustomerSite.start(service, { key: organization.key, agentId: await service.agent(organization.key) });
});
afterAll(() => site.close());

/** A widget that shows this reply. */
async function reply(text: string, options: Parameters<typeof browser.visitor>[0] = {}): Promise<WidgetPage> {
  const widget = await WidgetPage.visit(await browser.visitor(options), site.origin);
  await widget.open();
  service.models.next(says(text));
  await widget.say('Go');
  await until(async () => (await widget.state()).messages.at(-1)?.status === 'completed', 'the reply is complete');
  await widget.page.locator('agent-chat .markdown-body > :last-child').waitFor();
  return widget;
}

/** What a function of a test uses in the browser. */
interface InBrowser {
  readonly getComputedStyle: (element: unknown) => Readonly<Record<string, string>>;
  readonly document: {
    readonly createRange: () => {
      setStart(node: unknown, offset: number): void;
      setEnd(node: unknown, offset: number): void;
      getClientRects(): { readonly length: number };
    };
    readonly createTreeWalker: (
      root: unknown,
      show: number,
    ) => { nextNode(): unknown; readonly currentNode: { readonly nodeValue: string | null } };
  };
}

/** A property of the elements as the browser computes it. */
const styles = (elements: Locator, property: string): Promise<(string | undefined)[]> =>
  elements.evaluateAll(
    (all, name) => all.map((each) => (globalThis as unknown as InBrowser).getComputedStyle(each)[name]),
    property,
  );

const inReply = (widget: WidgetPage, selector: string): Locator =>
  widget.page.locator(`agent-chat .markdown ${selector}`);

describe('a table', () => {
  it('breaks lines between words only, scrolls in its own box and aligns its columns', async () => {
    const widget = await reply(
      [
        '| Plan | Price | Availability | Description of everything | Contact |',
        '|:-----|------:|:------------:|---|---|',
        '| Starter | 10 € | Everywhere in Europe | A long text that has to be broken into some lines | someone.with.a.long.name@shop.example |',
        '| Professional | 1,000 € | Worldwide | Short | x |',
      ].join('\n'),
      { viewport: { width: 360, height: 700 } },
    );
    await picture(widget.page, 'table');
    const words = await inReply(widget, 'td, th').evaluateAll((cells) =>
      cells.map((cell) => {
        const { document } = globalThis as unknown as InBrowser;
        const range = document.createRange();
        const broken: string[] = [];
        const walk = document.createTreeWalker(cell, 4);
        while (walk.nextNode()) {
          const text = walk.currentNode.nodeValue ?? '';
          for (const { 0: word, index } of text.matchAll(/[\p{L}\p{N}]+/gu)) {
            range.setStart(walk.currentNode, index);
            range.setEnd(walk.currentNode, index + word.length);
            if (range.getClientRects().length > 1) broken.push(word);
          }
        }
        return broken;
      }),
    );
    expect(words.flat()).toEqual([]);
    const box = inReply(widget, '.table');
    const [width, content, outside] = await box.evaluate((element) => [
      element.clientWidth,
      element.scrollWidth,
      element.parentElement?.scrollWidth ?? 0,
    ]);
    expect(content).toBeGreaterThan(width ?? 0);
    expect(outside).toBeLessThanOrEqual(360);
    await box.focus();
    await widget.page.keyboard.press('ArrowRight');
    await until(() => box.evaluate(({ scrollLeft }) => scrollLeft > 0), 'the table is scrolled with the keyboard');
    const alignments = await styles(inReply(widget, 'tbody tr:first-child td'), 'textAlign');
    expect(alignments).toEqual(['start', 'end', 'center', 'start', 'start']);
    expect(widget.problems).toEqual([]);
  });

  it('of three columns wraps its words before it grows', async () => {
    const text = 'some words that need a few lines';
    const row = `| ${text} | ${text} | ${text} |`;
    const widget = await reply(`${row}\n|---|---|---|\n${row}`, { viewport: { width: 400, height: 700 } });
    await picture(widget.page, 'table-narrow');
    const box = inReply(widget, '.table');
    expect(await box.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it('of a language that is written from right to left is mirrored, and an English cell stays in its column', async () => {
    const widget = await reply('| السعر | الاسم |\n|:--|--:|\n| خمسة عشر يورو | منتج كبير جدا |\n| five | of |');
    await picture(widget.page, 'table-rtl');
    expect(await styles(inReply(widget, 'table'), 'direction')).toEqual(['rtl']);
    const sides = await inReply(widget, 'tbody td > span').evaluateAll((spans) =>
      spans.map((span) => {
        const [text, cell] = [span.getBoundingClientRect(), span.parentElement?.getBoundingClientRect()];
        return (cell?.right ?? 0) - text.right < text.left - (cell?.left ?? 0) ? 'right' : 'left';
      }),
    );
    expect(sides.slice(2)).toEqual(['right', 'left']);
  });
});

describe('a text from right to left', () => {
  it('has its own direction in each block, and code from left to right', async () => {
    const widget = await reply(
      'مرحبا، استخدم `npm run build` الآن.\n\nThis is English.\n\n- عنصر `a-b`\n\n```sh\necho -n "x" # !\n```\n\n> اقتباس',
    );
    await picture(widget.page, 'right-to-left');
    const directions = async (selector: string): Promise<unknown[]> => styles(inReply(widget, selector), 'direction');
    expect(await directions('.markdown-body > p')).toEqual(['rtl', 'ltr']);
    expect(await directions('ul, blockquote')).toEqual(['rtl', 'rtl']);
    expect(await directions('code')).toEqual(['ltr', 'ltr', 'ltr']);
  });
});

describe('the order of characters', () => {
  it('of a footnote is its own', async () => {
    const widget = await reply('نص[^1].\n\n[^1]: مرحبا بكم في المتجر');
    await picture(widget.page, 'footnote-rtl');
    const [right] = await inReply(widget, '.notes li').evaluateAll((items) =>
      items.map((item) => {
        const text = item.querySelector('.note-text p')?.getBoundingClientRect();
        const own = item.getBoundingClientRect();
        return text !== undefined && own.right - text.right < text.left - own.left;
      }),
    );
    expect(right).toBe(true);
  });

  it('is not turned around by a reply, and a link stands for itself', async () => {
    const widget = await reply('a\u202eb &#8238;c [bank.example](https://evil.example) `d\u2066`\n\n```\ne\u202e\n```');
    await picture(widget.page, 'bidi');
    expect(await widget.page.locator('agent-chat .markdown').last().textContent()).not.toMatch(
      /[\u202a-\u202e\u2066-\u2069]/,
    );
    expect(await styles(inReply(widget, 'a'), 'unicodeBidi')).toEqual(['isolate']);
    expect(await styles(inReply(widget, '.link-host'), 'display')).toEqual(['inline-block']);
  });
});

describe('a list of tasks', () => {
  it('has boxes with names in the place of bullets, and lists in lists', async () => {
    const widget = await reply('- [x] Buy\n- [ ] Paint\n    1. red\n    2. blue\n- none');
    await picture(widget.page, 'tasks');
    const done = widget.page.getByRole('checkbox', { name: 'Done', exact: true });
    const open = widget.page.getByRole('checkbox', { name: 'Not done' });
    expect([await done.isChecked(), await open.isChecked()]).toEqual([true, false]);
    expect([await done.isDisabled(), await open.isDisabled()]).toEqual([true, true]);
    expect(await styles(inReply(widget, 'ul > li'), 'listStyleType')).toEqual(['none', 'none', 'disc']);
    expect(await inReply(widget, 'ul > li:nth-child(2) > ol > li').allTextContents()).toEqual(['red', 'blue']);
  });
});

describe('a footnote', () => {
  it('is reached from the text and leads back, within its own message', async () => {
    const widget = await reply('First[^a] and first again[^a], none[^missing].\n\n[^a]: The **note**.');
    service.models.next(says('Second[^a].\n\n[^a]: Another note.'));
    await widget.say('More');
    await widget.messages.getByText('Another note.').waitFor();
    await widget.status('ready');
    await picture(widget.page, 'footnotes');
    const message = widget.page.locator('agent-chat .markdown').first();
    const references = message.locator('[role=doc-noteref]');
    await until(async () => (await references.count()) === 2, 'the references are links');
    await expect(message.getByText('none[^missing].').count()).resolves.toBe(1);
    const url = widget.page.url();
    const focused = (): Promise<string> =>
      widget.page.locator('agent-chat').evaluate((element) => element.shadowRoot?.activeElement?.textContent ?? '');
    await references.nth(1).click();
    expect(await focused()).toContain('The note.');
    await message.locator('[role=doc-backlink][aria-label="Back to the text (1)"]').click();
    expect(await focused()).toBe('1');
    expect(await references.nth(1).evaluate((link) => link.matches(':focus'))).toBe(true);
    expect(widget.page.url()).toBe(url);
    const ids = await widget.page.locator('agent-chat .markdown [id]').evaluateAll((all) => all.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(4);
  });
});

describe('code', () => {
  const chunk =
    (name: string) =>
    (request: string): boolean =>
      request.includes(`widget-${name}`);

  it('is highlighted by a part of the widget that is loaded when it is needed, from the service', async () => {
    const plain = await reply('Some `inline` code\n\n```\nplain\n```\n\n```unknown-language\nx\n```');
    expect(plain.requests.filter(chunk('highlight'))).toEqual([]);
    const widget = await reply('```ts\nconst a: string = "b"; // c\n```\n\n```python\ndef f(): return 1\n```');
    await until(async () => (await inReply(widget, '.hl-keyword').count()) > 1, 'the code is highlighted');
    await picture(widget.page, 'code');
    expect(await inReply(widget, 'pre').allTextContents()).toEqual([
      'const a: string = "b"; // c',
      'def f(): return 1',
    ]);
    expect(new Set(await styles(inReply(widget, 'pre span'), 'color')).size).toBeGreaterThan(2);
    const loaded = widget.requests.filter(chunk('highlight'));
    expect(loaded).toHaveLength(1);
    expect(loaded[0]).toContain(service.baseUrl);
    expect(widget.problems).toEqual([]);
  });
});

describe('a formula', () => {
  it('reads as text, and amounts of money remain as they are', async () => {
    const plain = await reply('It costs $5 and $10.');
    expect(plain.requests.filter((request) => request.includes('widget-math'))).toEqual([]);
    const widget = await reply('It is $E = mc^2$, for $5 and $10:\n\n$$\n\\frac{a+b}{2} \\le \\sqrt{x}\n$$');
    await until(
      async () => (await inReply(widget, '.math').allTextContents()).join() === 'E = mc²,(a+b)/2 ≤ √x',
      'the formulas are read',
    );
    await picture(widget.page, 'formula');
    expect(await inReply(widget, 'p').first().textContent()).toBe('It is E = mc², for $5 and $10:');
    expect(await inReply(widget, '.math').first().getAttribute('title')).toBe('E = mc^2');
  });
});

describe('a link', () => {
  it('never carries a user name, and shows the real host when its text names another', async () => {
    const widget = await reply(
      [
        '[shop.example](https://evil.example/x)',
        '[Sign in at **shop.example**](https://evil.example/)',
        '[the shop](https://evil.example/)',
        '[www.shop.example/a.b](https://shop.example/)',
        'https://shop.example:secret@evil.example/y',
        '[https://shоp.example](https://shоp.example/)',
        '<mailto:a@shop.example>',
        '[**https://user:pw@shop.example**](https://u:p@evil.example)',
      ].join('\n\n'),
    );
    await picture(widget.page, 'links');
    const links = await inReply(widget, 'a').evaluateAll((all) =>
      all.map((link) => [link.textContent, link.getAttribute('href')]),
    );
    expect(links).toEqual([
      ['shop.example (evil.example)', 'https://evil.example/x'],
      ['Sign in at shop.example (evil.example)', 'https://evil.example/'],
      ['the shop', 'https://evil.example/'],
      ['www.shop.example/a.b', 'https://shop.example/'],
      ['https://evil.example/y', 'https://evil.example/y'],
      ['https://shоp.example (xn--shp-ted.example)', 'https://xn--shp-ted.example/'],
      ['mailto:a@shop.example', 'mailto:a@shop.example'],
      ['https://shop.example (evil.example)', 'https://evil.example/'],
    ]);
    expect(await inReply(widget, 'a').first().getAttribute('rel')).toBe('noopener noreferrer nofollow');
  });
});

describe('an image', () => {
  it('that is not loaded yet is a chip in its line, also in a heading', async () => {
    const widget = await reply('# See ![](https://a.example/b.png)\n\nSee ![A bicycle](https://a.example/b.png) here');
    await picture(widget.page, 'image-chips');
    const chips = inReply(widget, '.image');
    expect(await styles(chips, 'display')).toEqual(['inline-flex', 'inline-flex']);
    expect(new Set(await styles(chips, 'fontSize')).size).toBe(1);
    expect(await styles(chips, 'fontWeight')).toEqual(['400', '400']);
  });

  it('is enlarged over the panel, and closed by keyboard and by click', async () => {
    const context = await browser.visitor();
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600"><rect width="800" height="600" fill="teal"/></svg>';
    await context.route('https://pictures.example/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: svg }),
    );
    const widget = await WidgetPage.visit(context, site.origin);
    await widget.open();
    service.models.next(says('Here: ![A bicycle](https://pictures.example/bicycle.svg)'));
    await widget.say('Go');
    await widget.page.getByRole('button', { name: 'Show image from pictures.example' }).click();
    const opener = widget.page.getByRole('button', { name: 'Enlarge image: A bicycle' });
    await opener.press('Enter');
    const dialog = widget.page.getByRole('dialog', { name: 'A bicycle' });
    await dialog.waitFor();
    await picture(widget.page, 'enlarged');
    const [width] = await dialog.getByRole('img').evaluate((image) => [image.getBoundingClientRect().width]);
    expect(width).toBe(800);
    const isClosed = async (): Promise<void> => {
      await dialog.waitFor({ state: 'detached' });
      expect(await opener.evaluate((button) => button.matches(':focus'))).toBe(true);
      expect(await widget.input.isVisible()).toBe(true);
    };
    await widget.page.keyboard.press('Escape');
    await isClosed();
    await opener.click();
    await dialog.getByRole('button', { name: 'Close image' }).click();
    await isClosed();
    await opener.click();
    await widget.page.mouse.click(5, 5);
    await isClosed();
    expect(widget.problems).toEqual([]);
  });
});
