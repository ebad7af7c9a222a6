import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { until } from '../support/harness.js';
import { useBrowser } from './chromium.js';
import { type ElementPage, ElementSite } from './element-page.js';

/** An application that makes new objects and functions at each rendering, as most do. */
const APPLICATION = `
import { createElement, StrictMode, useLayoutEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { AgentChat } from './react.ts';
import { AgentChatElement } from './element.ts';

const test = { chats: [], replies: [], changes: [] };
globalThis.test = test;
class FakeChat {
  state = { status: 'idle', messages: [], truncated: false, approvals: [], suggestions: [], failure: null, retryAt: null, isStopping: false, threadId: null, can: {} };
  heard = new Set(); calls = [];
  constructor(options) { this.options = options; test.chats.push(this); }
  subscribe() { return () => {}; }
  on(listener) { this.heard.add(listener); return () => {}; }
  async start() { this.calls.push('start'); }
  close() { this.calls.push('close'); }
}
const fake = (options) => new FakeChat(options);
// The widget sets its own when it is loaded.
Object.defineProperty(AgentChatElement, 'createChat', { get: () => fake, set() {} });

function Application() {
  const [count, setCount] = useState(0);
  const [open, setOpen] = useState(location.search === '?open');
  const [mounted, setMounted] = useState(true);
  const ref = useRef(null);
  Object.assign(test, { count, setCount, setOpen, setMounted, ref });
  useLayoutEffect(() => {
    if (!open && test.opensAgain) ref.current.open();
  }, [open]);
  return mounted && createElement(AgentChat, {
    ref, open, heading: 'Count ' + count, starters: ['One', 'Two'], sound: true, className: 'chat',
    options: { mode: 'session', credentials: async () => count, userContext: { plan: 'pro' } },
    strings: { greeting: 'Hi ' + (count > 5 ? 'again' : '') },
    onOpenChange: (isOpen) => { test.changes.push(isOpen + ' at ' + count); setOpen(isOpen); },
    onReplyFinished: ({ text }) => test.replies.push(text + ' at ' + count),
  });
}
createRoot(document.querySelector('main')).render(createElement(StrictMode, null, createElement(Application)));
document.body.dataset.loaded = '';
`;

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: 'widget/src', loader: 'js' },
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"development"' },
  });
  return outputFiles[0]!.text;
}

const browser = useBrowser();
let site: ElementSite;
beforeAll(async () => {
  site = await ElementSite.start({ '/main.js': await bundle(APPLICATION) });
});
afterAll(() => site.close());

const visit = async (path = ''): Promise<ElementPage> => {
  const shown = await site.visit(await browser.visitor(), path === '' ? {} : { [path]: '' });
  await shown.page.locator('agent-chat .shell').waitFor({ state: 'attached' });
  return shown;
};
const renderOften = ({ run }: ElementPage) =>
  run(
    `for (let i = 0; i < 20; i += 1) { test.setCount((count) => count + 1); await new Promise(requestAnimationFrame); }`,
  );

describe('the React component', () => {
  it('keeps one chat and the open panel over renderings, and calls the newest functions', async () => {
    const shown = await visit();
    const { page, run } = shown;
    const before = await run<number>('return test.chats.length');
    await page.locator('agent-chat .launcher').click();
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('Draft');
    await renderOften(shown);
    await page.getByRole('dialog', { name: 'Count 20' }).waitFor();
    await page.getByText('Hi again').waitFor();
    expect(await input.inputValue()).toBe('Draft');
    expect(await run('return test.chats.length')).toBe(before);
    expect(await run('return test.chats.at(-1).options.credentials()')).toBe(20);
    await run(
      `for (const hear of test.chats.at(-1).heard) hear({ type: 'replyFinished', message: { text: 'Hello', status: 'completed', id: 'm' } });`,
    );
    expect(await run('return test.replies')).toEqual(['Hello at 20']);
    expect(await run('return test.changes')).toEqual(['true at 0']);
    const element = page.locator('agent-chat');
    expect(await element.getAttribute('starters')).toBe('One\nTwo');
    expect(await element.getAttribute('class')).toBe('chat');
    expect(await element.getAttribute('sound')).toBe('');
    expect(shown.problems).toEqual([]);
  });

  it('opens and closes as the application says, and tells what the visitor does', async () => {
    const shown = await visit();
    const { page, run } = shown;
    const dialog = page.getByRole('dialog');
    await run('test.setOpen(true)');
    await dialog.waitFor();
    await until(
      () => run<boolean>(`return test.ref.current.shadowRoot.activeElement?.localName === 'textarea'`),
      'the focus is in the panel',
    );
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await run('test.ref.current.open()');
    await dialog.waitFor();
    await run('test.setOpen(false)');
    await dialog.waitFor({ state: 'hidden' });
    expect(await run('return test.changes')).toEqual(['true at 0', 'false at 0', 'true at 0', 'false at 0']);
    expect(shown.problems).toEqual([]);
  });

  it('stays open when the application opens it as soon as it is closed', async () => {
    const { page, run } = await visit();
    await run('test.opensAgain = true');
    await run('test.setOpen(true)');
    await page.getByRole('dialog').waitFor();
    await run('test.setOpen(false)');
    await until(() => run<boolean>('return test.changes.length > 2'), 'it was closed and opened again');
    await run('await new Promise(requestAnimationFrame)');
    expect(await run('return test.changes')).toEqual(['true at 0', 'false at 0', 'true at 0']);
    expect(await page.locator('agent-chat').getAttribute('open')).toBe('');
  });

  it('ends the chat with the component', async () => {
    const shown = await visit();
    await shown.run('test.setMounted(false)');
    await until(() => shown.run<boolean>(`return test.chats.at(-1).calls.includes('close')`), 'the chat is closed');
    await shown.run('test.setMounted(true)');
    await shown.page.locator('agent-chat .launcher').waitFor();
    expect(shown.problems).toEqual([]);
  });

  it('renders on a server without a browser', async () => {
    const script = await bundle(`
      import { createElement } from 'react';
      import { renderToString } from 'react-dom/server.edge';
      import { AgentChat } from './react.ts';
      export const html = renderToString(createElement(AgentChat, { sessionEndpoint: '/session', accent: 'teal', open: true }));`);
    const url = `data:text/javascript;base64,${Buffer.from(script).toString('base64')}`;
    const { html } = (await import(url)) as { html: string };
    expect(html).toContain('<agent-chat');
    expect(html).toContain('session-endpoint="/session"');
    expect(html).toContain('accent="teal"');
  });
});
