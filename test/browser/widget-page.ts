import type { BrowserContext, Locator, Page } from 'playwright-core';
import { until } from '../support/harness.js';

/** The widget as a visitor sees it. Playwright's locators pierce its shadow root. */
export class WidgetPage {
  /** The errors of the page: violations of its policy, exceptions. */
  readonly problems: string[] = [];
  /** Every request of the page, with its method. */
  readonly requests: string[] = [];

  private constructor(readonly page: Page) {
    page.on('pageerror', ({ message }) => this.problems.push(message));
    page.on('console', (line) => {
      if (line.type() === 'error' && !line.text().includes('Failed to load resource')) this.problems.push(line.text());
    });
    page.on('request', (request) => this.requests.push(`${request.method()} ${request.url()}`));
  }

  static async visit(context: BrowserContext, url: string): Promise<WidgetPage> {
    const visited = new WidgetPage(await context.newPage());
    await visited.page.goto(url);
    await visited.page.locator('agent-chat').waitFor({ state: 'attached' });
    return visited;
  }

  get launcher(): Locator {
    return this.page.getByRole('button', { name: 'Open chat' });
  }

  get input(): Locator {
    return this.page.getByRole('textbox', { name: 'Message' });
  }

  get log(): Locator {
    return this.page.getByRole('log');
  }

  get messages(): Locator {
    return this.page.locator('agent-chat .message:visible .bubble:visible');
  }

  async open(): Promise<void> {
    await this.launcher.click();
    await this.status('ready');
  }

  async say(text: string): Promise<void> {
    await this.input.fill(text);
    await this.input.press('Enter');
  }

  /** By how many pixels the page and the conversation are wider than their boxes. */
  overflow(): Promise<number[]> {
    return this.page.evaluate<number[]>(
      `[document.documentElement, document.querySelector('agent-chat').shadowRoot.querySelector('.log')].map((box) => box ? box.scrollWidth - box.clientWidth : 0)`,
    );
  }

  status(status: string): Promise<void> {
    return until(async () => (await this.state()).status === status, `the chat is ${status}`, { everyMs: 20 });
  }

  state(): Promise<{
    status: string;
    failure: { code: string } | null;
    messages: { role: string; text: string; status: string }[];
  }> {
    return this.page
      .locator('agent-chat')
      .evaluate((element) => (element as unknown as { chat: { state: never } }).chat.state);
  }
}
