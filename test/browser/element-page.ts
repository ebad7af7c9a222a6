import { existsSync, readFileSync } from 'node:fs';
import type { BrowserContext, Page } from 'playwright-core';
import { PageServer } from './page-server.js';

const POLICY = `default-src 'none'; script-src 'self'; connect-src 'self'; img-src https:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;

/** A page whose widget talks to a chat that the test controls, under the policy of a strict customer. */
const SCRIPT = `
import { AgentChatElement } from '/widget/agent-chat.js';
const can = { attach: false, suggest: false, react: false, listConversations: true };
const nothing = { messages: [], truncated: false, approvals: [], suggestions: [], failure: null, retryAt: null, isStopping: false, threadId: 't1' };
const test = { chats: [], events: [], lists: [], listen: () => {} };
class FakeChat {
  state = { ...nothing, status: 'idle', can };
  listeners = new Set(); heard = new Set(); calls = [];
  constructor(options) { this.options = options; test.chats.push(this); }
  set(change) { this.state = { ...this.state, ...change }; for (const each of this.listeners) each(); }
  emit(event) { for (const each of this.heard) each(event); }
  subscribe(listener) { this.listeners.add(listener); return () => this.listeners.delete(listener); }
  on(listener) { this.heard.add(listener); return () => this.heard.delete(listener); }
  message(role, text, more = {}) {
    const key = 'k' + (this.state.messages.length + 1);
    const message = { key, id: key, role, text, parts: [{ kind: 'text', text }], attachments: [], status: 'completed', createdAt: Date.now(), reaction: null, failure: null, ...more };
    this.set({ messages: [...this.state.messages, message] });
    return message;
  }
  reply(text, more) { const message = this.message('assistant', text, more); this.emit({ type: 'replyFinished', message }); }
  async start() { this.calls.push('start'); if (this.state.status === 'idle') this.set({ status: test.startsAs ?? 'ready', failure: test.failure ?? null }); }
  async send(text) { this.calls.push('send ' + text); this.emit({ type: 'messageSent', message: this.message('user', text) }); this.reply('You said: ' + text); }
  async retry() {} async stop() {} async answer() {} async react() { return true; }
  async upload() { throw new Error('no uploads'); }
  async listConversations() { const next = test.lists.shift(); if (!next) throw new Error('no list'); return next; }
  async openConversation(threadId) { this.calls.push('open ' + threadId); this.set({ threadId, messages: [] }); }
  async newConversation() { this.calls.push('new'); this.set({ messages: [], threadId: 't2' }); }
  close() { this.calls.push('close'); }
}
AgentChatElement.createChat = (options) => new FakeChat(options);
for (const type of ['ready', 'opened', 'closed', 'messageSent', 'replyFinished', 'chatError', 'sessionFailed'])
  document.addEventListener(type, (event) => test.events.push(event.composed && event.detail ? type + ' ' + JSON.stringify(event.detail) : type));
test.element = document.createElement('agent-chat');
for (const [name, value] of new URLSearchParams(location.search)) test.element.setAttribute(name, value);
if (!test.element.hasAttribute('session-endpoint')) test.element.setAttribute('session-endpoint', '/session');
globalThis.test = test;
document.querySelector('main').after(test.element);
document.body.dataset.loaded = '';
`;

/** The page, as a script of a test sees it. */
export interface ElementPage {
  readonly page: Page;
  /** Errors and violations of the policy. */
  readonly problems: string[];
  /** Runs a script of the test in the page; `test` has the chats, the events and the element. */
  readonly run: <Result>(script: string) => Promise<Result>;
}

/** Serves the page, and the files that a test adds by their paths. */
export class ElementSite extends PageServer {
  private constructor(private readonly files: Readonly<Record<string, string>>) {
    super();
    this.server.on('request', ({ url = '/' }, response) => {
      const { pathname } = new URL(url, 'http://localhost');
      const script = this.scriptAt(pathname);
      const type = script === undefined ? 'text/html' : 'text/javascript';
      response
        .writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'content-security-policy': POLICY })
        .end(script ?? pageOf('/main.js' in this.files ? '/main.js' : '/page.js'));
    });
  }

  static start(files: Readonly<Record<string, string>> = {}): Promise<ElementSite> {
    return new ElementSite(files).listen();
  }

  /** @param attributes of the element */
  async visit(context: BrowserContext, attributes: Readonly<Record<string, string>> = {}): Promise<ElementPage> {
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('pageerror', ({ message }) => problems.push(message));
    page.on('console', (line) => {
      if (line.type() === 'error') problems.push(line.text());
    });
    await page.goto(`${this.origin}/?${new URLSearchParams(attributes).toString()}`);
    await page.locator('body[data-loaded]').waitFor({ state: 'attached' });
    // Like an extension of the browser, because the page's policy blocks other scripts.
    return { page, problems, run: (script) => page.evaluate(`(async () => { ${script} })()`) };
  }

  private scriptAt(pathname: string): string | undefined {
    if (pathname === '/page.js') return SCRIPT;
    const built = `dist${pathname}`;
    if (/^\/widget\/[\w.-]+\.js$/.test(pathname) && existsSync(built)) return readFileSync(built, 'utf8');
    return this.files[pathname];
  }
}

function pageOf(script: string): string {
  const lines = Array.from({ length: 60 }, (_, index) => `<p>Thing number ${index} for sale.</p>`).join('');
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Shop</title>
<script type="module" src="${script}"></script></head>
<body><main><h1>A shop</h1><p><a href="/other">Other page</a> <input aria-label="Search"></p>${lines}</main></body></html>`;
}
