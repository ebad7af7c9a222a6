import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { HeldReply, refuses, says } from '../support/scripted-models.js';
import { picture, useBrowser } from './chromium.js';
import { RelaySite } from './relay-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let site: RelaySite;
let widget: WidgetPage;

beforeAll(async () => {
  organization = await service.organization();
  site = await RelaySite.start(service, {
    key: organization.key,
    agentId: await service.agent(organization.key),
  });
});
afterAll(() => site.close());
beforeEach(async () => {
  site.relayed.length = 0;
  site.brokenUploads = 0;
  site.refusedUploads = null;
  site.uploadsHeld = Promise.resolve();
  widget = await WidgetPage.visit(await browser.visitor(), site.origin);
  await widget.open();
});

const button = (name: string): Locator => widget.page.getByRole('button', { name, exact: true });
const card = (name: string): Locator => widget.page.locator('agent-chat .file').filter({ hasText: name });
const states = (): Promise<string[]> =>
  widget.page
    .locator('agent-chat .file')
    .evaluateAll((files) => files.map((file) => file.getAttribute('data-state') ?? ''));
const inTray = (...expected: string[]): Promise<void> =>
  until(async () => (await states()).join() === expected.join(), `the tray has: ${expected.join()}`, { everyMs: 20 });
const choose = (...files: { name: string; mimeType: string; buffer: Buffer }[]): Promise<void> =>
  widget.page.locator('agent-chat input[type=file]').setInputFiles(files);
const textFile = (name: string, text = 'Some text') => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
/** The focused element of the widget, by its label. */
const focused = (): Promise<string | null> =>
  widget.page
    .locator('agent-chat')
    .evaluate(
      (element) =>
        (
          element as unknown as { shadowRoot: { activeElement: { getAttribute(name: string): string | null } | null } }
        ).shadowRoot.activeElement?.getAttribute('aria-label') ?? null,
    );

describe('the send button', () => {
  it('stops a reply, keeps the focus and the text so far, and sends again afterwards', async () => {
    const reply = new HeldReply(['It begins'], [' and goes on.']);
    service.models.next(reply.script);
    await widget.say('Tell me');
    await widget.messages.getByText('It begins', { exact: true }).waitFor();
    await widget.input.fill('Next');
    await widget.input.press('Enter');
    expect(await widget.input.inputValue()).toBe('Next');
    await picture(widget.page, 'stop');
    await button('Stop').click();
    await widget.status('ready');
    reply.finish();
    expect(await focused()).toBe('Send');
    const { messages } = await widget.state();
    expect(messages.map(({ text, status }) => [text, status])).toEqual([
      ['Tell me', 'completed'],
      ['It begins', 'stopped'],
    ]);
    service.models.next(says('Answered.'));
    await button('Send').click();
    await widget.messages.getByText('Answered.').waitFor();
    expect(widget.problems).toEqual([]);
  });

  it('pressed twice in a row sends and does not stop', async () => {
    service.models.next(says('Answered.'));
    await widget.input.fill('Hello');
    await button('Send').dblclick();
    await widget.messages.getByText('Answered.').waitFor();
    await widget.status('ready');
    expect((await widget.state()).messages.map(({ status }) => status)).toEqual(['completed', 'completed']);
  });
});

describe('a reply that fails', () => {
  it('is tried again with the same message', async () => {
    service.models.next(refuses(400));
    await widget.say('Hello');
    await until(async () => (await widget.state()).messages[1]?.status === 'failed', 'the reply has failed');
    service.models.next(says('Now it works.'));
    await widget.page.locator('agent-chat').evaluate((element) => {
      const { chat } = element as unknown as {
        chat: { state: { messages: { key: string }[] }; retry(key: string): Promise<void> };
      };
      void chat.retry(chat.state.messages[1]!.key);
    });
    await widget.messages.getByText('Now it works.').waitFor();
    expect((await widget.state()).messages.map(({ text }) => text)).toEqual(['Hello', 'Now it works.']);
  });
});

describe('files', () => {
  it('are uploaded, shown with a picture and sent without words', async () => {
    await choose(textFile('notes.txt'), { name: 'dot.png', mimeType: 'image/png', buffer: PNG });
    await inTray('uploaded', 'uploaded');
    await card('dot.png').locator('canvas').waitFor();
    await picture(widget.page, 'files');
    service.models.next(says('Two files.'));
    await button('Send').click();
    await widget.messages.getByText('Two files.').waitFor();
    await inTray();
    // No blob URL: the page's policy would have refused it.
    expect(widget.problems).toEqual([]);
  });

  it('that the service would not take are refused before they are uploaded', async () => {
    await choose(
      textFile('empty.txt', ''),
      textFile('long.txt', 'x'.repeat(1024 * 1024 + 1)),
      { name: 'all.zip', mimeType: 'application/zip', buffer: Buffer.from('PK') },
      // A system that takes a CSV for a spreadsheet.
      { name: 'table.csv', mimeType: 'application/vnd.ms-excel', buffer: Buffer.from('a,b') },
    );
    await inTray('refused', 'refused', 'refused', 'uploaded');
    await picture(widget.page, 'files-refused');
    expect(await card('empty.txt').innerText()).toBe('empty.txt is empty.');
    expect(await card('long.txt').innerText()).toContain('long.txt is larger than 1 MB.');
    expect(await card('all.zip').innerText()).toContain('all.zip: files of this type cannot be attached.');
    expect(site.relayed.filter((request) => request.endsWith('/upload'))).toHaveLength(1);
    await button('Remove empty.txt').click();
    expect(await focused()).toBe('Remove long.txt');
    service.models.next(says('A table.'));
    await widget.say('What is it?');
    await widget.messages.getByText('A table.').waitFor();
    await inTray();
  });

  it('more than the service takes are refused', async () => {
    await choose(...Array.from({ length: 21 }, (_each, index) => textFile(`file-${index}.txt`)));
    await inTray(...Array.from({ length: 20 }, () => 'uploaded'), 'refused');
    expect(await card('file-20.txt').getByText('At most 20 files can be attached.').count()).toBe(1);
  });

  it('whose upload fails can be uploaded again', async () => {
    site.refusedUploads = 502;
    await choose(textFile('notes.txt'));
    await inTray('failed');
    site.refusedUploads = null;
    await card('notes.txt').getByRole('button', { name: 'Try again' }).click();
    await inTray('uploaded');
    expect(await focused()).toBe('Remove notes.txt');
  });

  it('are not sent before the upload has ended, and an upload can be broken off', async () => {
    let release: () => void = () => undefined;
    site.uploadsHeld = new Promise((resolve) => (release = resolve));
    await choose(textFile('notes.txt'));
    const progress = widget.page.getByRole('progressbar', { name: 'notes.txt' });
    await progress.waitFor();
    await picture(widget.page, 'uploading');
    await until(async () => (await progress.getAttribute('aria-valuenow')) === '100', 'the file was sent');
    await widget.say('Here it is');
    expect(await widget.input.inputValue()).toBe('Here it is');
    await button('Remove notes.txt').click();
    await inTray();
    await until(() => Promise.resolve(site.brokenUploads === 1), 'the upload was broken off');
    release();
    expect((await widget.state()).messages).toEqual([]);
  });

  it.each(['uploading', 'failed', 'refused'])('stay when the texts are drawn again: %s', async (state) => {
    let release: () => void = () => undefined;
    site.uploadsHeld = new Promise((resolve) => (release = resolve));
    if (state === 'failed') {
      site.refusedUploads = 502;
      release();
    }
    await choose(textFile('notes.txt', state === 'refused' ? '' : 'Some text'));
    await inTray(state);
    await card('notes.txt').getByRole('button').last().focus();
    await widget.page.evaluate(`document.querySelector('agent-chat').setAttribute('lang', 'de')`);
    await button('Chat schließen').first().waitFor();
    expect(await states()).toEqual([state]);
    await card('notes.txt').getByRole('button').last().click();
    await inTray();
    release();
    service.models.next(says('Gut.'));
    await widget.page.locator('agent-chat textarea').fill('Hallo');
    await widget.page.keyboard.press('Tab');
    await widget.page.locator('agent-chat .send').click();
    await widget.messages.getByText('Gut.').waitFor();
    await button('Senden').waitFor();
    expect(widget.problems).toEqual([]);
  });

  it('are pasted and dropped', async () => {
    const pasted = `new ClipboardEvent('paste', { clipboardData: made('pasted.txt'), bubbles: true, cancelable: true })`;
    const dropped = `new DragEvent('drop', { dataTransfer: made('dropped.txt'), bubbles: true, cancelable: true })`;
    await widget.page.evaluate(`
      const made = (name) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['text'], name, { type: 'text/plain' }));
        return transfer;
      };
      const root = document.querySelector('agent-chat').shadowRoot;
      root.querySelector('textarea').dispatchEvent(${pasted});
      root.querySelector('.panel').dispatchEvent(${dropped});
    `);
    await inTray('uploaded', 'uploaded');
    await card('pasted.txt').waitFor();
    await card('dropped.txt').waitFor();
  });
});

describe('the draft', () => {
  it('grows with its lines up to a limit, and Shift+Enter begins a new one', async () => {
    const height = async (): Promise<number> => (await widget.input.boundingBox())?.height ?? 0;
    const one = await height();
    await widget.input.fill('One');
    await widget.input.press('Shift+Enter');
    await widget.input.pressSequentially('Two');
    expect(await widget.input.inputValue()).toBe('One\nTwo');
    const two = await height();
    expect(two).toBeGreaterThan(one);
    await widget.input.fill('Line\n'.repeat(100));
    expect(await height()).toBeGreaterThan(two);
    expect(await height()).toBeLessThan(200);
  });

  it('is one line high while it is empty, however long the placeholder is', async () => {
    const height = async (): Promise<number> => (await widget.input.boundingBox())?.height ?? 0;
    const one = await height();
    await widget.page.evaluate(
      `document.querySelector('agent-chat').setAttribute('placeholder', 'Ask us anything '.repeat(50))`,
    );
    await widget.page.locator('agent-chat textarea[placeholder^="Ask us"]').waitFor();
    expect(await height()).toBeCloseTo(one, 0);
  });

  it('is not sent by the key that ends a composition, nor is the panel closed by it', async () => {
    await widget.input.fill('か');
    await widget.page.evaluate(`
      const input = document.querySelector('agent-chat').shadowRoot.querySelector('textarea');
      for (const key of ['Enter', 'Escape'])
        input.dispatchEvent(new KeyboardEvent('keydown', { key, keyCode: 229, bubbles: true, composed: true }));`);
    expect(await widget.input.inputValue()).toBe('か');
    expect(await widget.input.isVisible()).toBe(true);
  });
});

describe('a draft that is sent before the chat is ready', () => {
  it('is sent when it is', async () => {
    service.models.next(says('There you are.'));
    const early = await WidgetPage.visit(await browser.visitor(), site.origin);
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await early.page.route('**/v1/threads/*/messages', async (route) => {
      await held;
      await route.continue();
    });
    await early.page.evaluate(
      `sessionStorage.setItem('agent-chat:proxy:default', JSON.stringify({ version: 1, threadId: '${crypto.randomUUID()}' }))`,
    );
    await early.page.reload();
    await early.launcher.click();
    await early.status('connecting');
    await early.say('Hello?');
    expect((await early.state()).messages).toEqual([]);
    release();
    await early.messages.getByText('There you are.').waitFor();
  });
});

describe('another language', () => {
  it('leaves the files of the next message where they are', async () => {
    let release: () => void = () => undefined;
    site.uploadsHeld = new Promise((resolve) => (release = resolve));
    await choose(textFile('notes.txt'), {
      name: 'a.exe',
      mimeType: 'application/x-msdownload',
      buffer: Buffer.from('MZ'),
    });
    await until(async () => (await states()).length === 2, 'both files are in the tray');
    await widget.page.evaluate(`document.documentElement.lang = 'de'`);
    await widget.page.getByRole('button', { name: 'Chat schließen' }).first().waitFor();
    expect(await states()).toHaveLength(2);
    release();
    await until(async () => (await states()).includes('uploaded'), 'the upload has ended');
    expect(widget.problems).toEqual([]);
  });
});
