import { beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { useBrowser } from './chromium.js';

const SITE = 'http://shop.test';

const browser = useBrowser();
/** The files of the module, by their paths. */
let files: ReadonlyMap<string, string>;

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ['widget/src/view/languages.ts'],
    outdir: '/',
    chunkNames: 'widget-[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    write: false,
  });
  files = new Map(outputFiles.map(({ path, text }) => [path, text]));
});

/** A page of a site that no longer has the files whose path matches `lost`. */
async function visit(body: string, lost?: RegExp): Promise<{ page: Page; requested: string[] }> {
  const requested: string[] = [];
  const page = await (await browser.visitor()).newPage();
  await page.route(`${SITE}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') return route.fulfill({ contentType: 'text/html', body });
    requested.push(pathname);
    const script = lost?.test(pathname) ? undefined : files.get(pathname);
    return script === undefined
      ? route.fulfill({ status: 404 })
      : route.fulfill({ contentType: 'text/javascript', body: script });
  });
  await page.goto(SITE);
  return { page, requested };
}

/** The value of an expression that uses the exports of the module, and `at(id)` for an element in any shadow root. */
function evaluate<T>(page: Page, expression: string): Promise<T> {
  return page.evaluate<T>(`(async () => {
    const { languageOf, loadStrings } = await import('/languages.js');
    const at = (id, root = document) =>
      root.getElementById(id) ??
      [...root.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot && at(id, shadowRoot)).find(Boolean);
    return ${expression};
  })()`);
}

const SHADOW = '<template shadowrootmode="open">';
const PAGE = `<!doctype html><html lang="pt-BR"><body>
  <p id="plain"></p>
  <p id="own" lang="de-AT"></p>
  <section lang="fr"><div lang=""><p id="inner"></p></div></section>
  <div lang="tr">${SHADOW}<div>${SHADOW}<p id="deep"></p></template></div></template></div>
  <div lang="tr">${SHADOW}<div lang="nl">${SHADOW}<p id="nearer"></p></template></div></template></div>
</body></html>`;

describe('the language of an element', () => {
  it('is its own, or that of the closest ancestor that has one, also outside of its shadow roots', async () => {
    const { page } = await visit(PAGE);
    const ids = ['plain', 'own', 'inner', 'deep', 'nearer'];
    const found = await evaluate(page, `${JSON.stringify(ids)}.map((id) => languageOf(at(id)))`);
    expect(found).toEqual(['pt-BR', 'de-AT', 'fr', 'tr', 'nl']);
  });

  it("is the document's while it is in no document, and English without one", async () => {
    const made = "languageOf(document.createElement('p'))";
    expect(await evaluate((await visit(PAGE)).page, made)).toBe('pt-BR');
    const { page } = await visit('<!doctype html><p id="plain"></p>');
    expect(await evaluate(page, made)).toBe('en');
    expect(await evaluate(page, "languageOf(at('plain'))")).toBe('en');
  });
});

describe('the texts of a language', () => {
  const load = (page: Page, tag: string): Promise<{ send: string; locale: string }> =>
    evaluate(page, `loadStrings('${tag}').then(({ strings, locale }) => ({ send: strings.send, locale }))`);

  it('come in a file of their own, which other pages do not request', async () => {
    const { page, requested } = await visit(PAGE);
    expect(await load(page, 'en-GB')).toEqual({ send: 'Send', locale: 'en-GB' });
    expect(requested.filter((path) => path.includes('widget-de'))).toEqual([]);
    expect(await load(page, 'de-AT')).toEqual({ send: 'Senden', locale: 'de-AT' });
    expect(requested.filter((path) => path !== '/languages.js')).toEqual([
      expect.stringMatching(/^\/widget-de-\w+\.js$/),
    ]);
  });

  it('are English if the service no longer has the file', async () => {
    const { page, requested } = await visit(PAGE, /^\/widget-de-/);
    expect(await load(page, 'de-AT')).toEqual({ send: 'Send', locale: 'de-AT' });
    expect(requested).toContainEqual(expect.stringContaining('/widget-de-'));
  });
});
