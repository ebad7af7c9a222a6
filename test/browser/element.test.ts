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

const visit = async (attributes: Readonly<Record<string, string>> = {}): Promise<ElementPage> => {
  const shown = await site.visit(await browser.visitor(), attributes);
  await shown.page.locator('agent-chat .shell').waitFor({ state: 'attached' });
  return shown;
};
const focused = ({ run }: ElementPage): Promise<string> =>
  run(
    `const a = document.activeElement; const b = a?.shadowRoot?.activeElement ?? a; return b.getAttribute('aria-label') ?? b.textContent.trim().slice(0, 20);`,
  );
const events = ({ run }: ElementPage): Promise<string[]> => run('return test.events');

describe('a closed widget', () => {
  it('takes no focus and tells nothing as the page loads and as it is drawn again', async () => {
    const shown = await visit();
    const { page, run } = shown;
    await page.getByLabel('Search').focus();
    await run(
      `test.element.strings = { open: 'Ask us', close: 'Shut' }; test.element.setAttribute('heading', 'Shop');`,
    );
    await page.getByRole('button', { name: 'Ask us' }).waitFor();
    expect(await focused(shown)).toBe('Search');
    expect(await events(shown)).toEqual([]);
    expect(await run('return test.chats.map(({ calls }) => calls)')).toEqual([[]]);
    expect(shown.problems).toEqual([]);
  });

  it('that is open in the page’s HTML takes no focus either', async () => {
    const shown = await visit({ open: '' });
    await shown.page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await shown.run('return document.activeElement.localName')).toBe('body');
    expect(await events(shown)).toEqual(['ready']);
  });

  it('counts the replies that the visitor has not seen', async () => {
    const { page, run } = await visit();
    await run(`await test.element.send('Hello'); test.chats[0].reply('More');`);
    const launcher = page.getByRole('button', { name: 'Open chat, Unread messages: 2' });
    expect(await launcher.locator('.badge').textContent()).toBe('2');
    await launcher.click();
    await run(`test.chats[0].reply('Seen')`);
    await page.locator('agent-chat .panel').getByRole('button', { name: 'Close chat' }).click();
    await page.getByRole('button', { name: 'Open chat', exact: true }).waitFor();
    expect(await page.locator('agent-chat .badge').isVisible()).toBe(false);
  });
});

describe('an open widget', () => {
  it('is drawn again in place: focus, draft, selection and scroll position stay', async () => {
    const shown = await visit();
    const { page, run } = shown;
    await page.locator('agent-chat .launcher').click();
    await run(`for (let i = 0; i < 30; i += 1) test.chats[0].message('assistant', 'Reply ' + i);`);
    const input = page.getByRole('textbox', { name: 'Message' });
    await input.fill('A draft');
    await input.press('Home');
    const log = `test.element.shadowRoot.querySelector('.log')`;
    await run(`${log}.scrollTop = 120`);
    const before = await events(shown);
    await run(
      `test.element.strings = { message: 'Text', you: 'Me', close: 'Shut' }; test.element.setAttribute('placeholder', 'Go on');`,
    );
    const again = page.getByRole('textbox', { name: 'Text' });
    await page.locator('agent-chat textarea[placeholder="Go on"]').waitFor();
    expect(await again.inputValue()).toBe('A draft');
    expect(await focused(shown)).toBe('Text');
    await page.keyboard.type('Not ');
    expect(await again.inputValue()).toBe('Not A draft');
    expect(await run(`return ${log}.scrollTop`)).toBe(120);
    expect(await events(shown)).toEqual(before);
    expect(await run('return test.chats.length')).toBe(1);
  });

  it('takes looks without another chat', async () => {
    const { page, run } = await visit({ heading: 'Shop' });
    await page.locator('agent-chat .launcher').click();
    await run(`
      const looks = { heading: 'Bikes', subtitle: 'Here for you', avatar: 'https://shop.example/a.png', greeting: 'Moin!', 'launcher-label': 'Talk', dir: 'rtl', accent: '#0a7d55', radius: '2px', font: 'serif', theme: 'dark' };
      for (const [name, value] of Object.entries(looks)) test.element.setAttribute(name, value);`);
    await page.getByRole('dialog', { name: 'Bikes' }).waitFor();
    await page.getByText('Here for you').waitFor();
    await page.getByText('Moin!').waitFor();
    expect(
      await run(`
        const { direction, borderTopLeftRadius, fontFamily, backgroundColor } = getComputedStyle(test.element.shadowRoot.querySelector('.panel'));
        return { direction, borderTopLeftRadius, fontFamily, backgroundColor };`),
    ).toEqual({
      direction: 'rtl',
      borderTopLeftRadius: '2px',
      fontFamily: 'serif',
      backgroundColor: 'rgb(23, 26, 33)',
    });
    expect(await run('return test.chats.length')).toBe(1);
  });

  it('starts another chat once for several changed attributes, and none for equal values', async () => {
    const { run } = await visit({ 'session-endpoint': '/a' });
    const count = `await new Promise(requestAnimationFrame); return test.chats.map(({ options }) => [options.credentials, options.baseUrl])`;
    expect(await run(`test.element.setAttribute('session-endpoint', '/a'); ${count}`)).toHaveLength(1);
    const all = await run<string[][]>(
      `test.element.setAttribute('session-endpoint', '/b'); test.element.setAttribute('base-url', 'https://x.example'); ${count}`,
    );
    expect(all).toEqual([
      ['/a', expect.any(String)],
      ['/b', 'https://x.example'],
    ]);
    expect(await run('return test.chats[0].calls')).toEqual(['close']);
  });

  it('keeps its chat when a page sets equal options again, and calls the newest functions', async () => {
    const { run } = await visit();
    const options = (answer: number, plan = 'pro') =>
      `({ mode: 'proxy', baseUrl: '/chat', assistantId: 'a', userContext: { plan: '${plan}' }, conversations: () => ${answer} })`;
    const set = (value: string) => run(`test.element.options = ${value}; return test.chats.length`);
    expect(await set(options(1))).toBe(2);
    expect(await set(options(2))).toBe(2);
    expect(await run('return test.chats[1].options.conversations()')).toBe(2);
    expect(await set(options(2, 'free'))).toBe(3);
    expect(await set('undefined')).toBe(4);
  });

  it('ignores texts that are undefined', async () => {
    const { page, run } = await visit();
    await run(`test.element.strings = { heading: undefined, open: undefined, close: 'Shut' }`);
    await page.locator('agent-chat .launcher').click();
    await page.locator('agent-chat .launcher[aria-label=Shut]').waitFor();
    expect(await page.locator('agent-chat .heading').textContent()).not.toBe('undefined');
    expect(await page.locator('agent-chat .heading').textContent()).not.toBe('');
  });

  it('takes properties that were set before the element was defined', async () => {
    const { page, run } = await visit();
    await run(`
      const { AgentChatElement } = await import('/widget/agent-chat.js');
      const early = document.createElement('agent-early');
      early.strings = { open: 'Open early', close: 'Close early' };
      early.open = true;
      early.options = { mode: 'session', credentials: '/early' };
      document.body.append(early);
      customElements.define('agent-early', class extends AgentChatElement {});`);
    await page.locator('agent-early .panel').getByRole('button', { name: 'Close early' }).waitFor();
    expect(await run(`return typeof document.querySelector('agent-early').open`)).toBe('function');
    expect(await run('return test.chats.at(-1).options.credentials')).toBe('/early');
  });
});

describe('the element', () => {
  it('tells what happens, through shadow trees', async () => {
    const shown = await visit();
    await shown.run(`
      test.element.open();
      await test.element.send('Hello');
      const failure = { code: 'network', message: 'lost', terminal: false };
      test.chats[0].emit({ type: 'chatError', failure });
      test.chats[0].emit({ type: 'sessionFailed', failure });
      test.element.close();`);
    const failure = '{"code":"network","message":"lost","terminal":false}';
    expect(await events(shown)).toEqual([
      'ready',
      'opened',
      'messageSent {"text":"Hello"}',
      'replyFinished {"text":"You said: Hello","status":"completed","messageId":"k2"}',
      `chatError ${failure}`,
      `sessionFailed ${failure}`,
      'closed',
    ]);
  });

  it('opens by a method with the focus in it, and by an attribute or a property without', async () => {
    const shown = await visit();
    const { page, run } = shown;
    await run('test.element.open = true');
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    expect(await run('return document.activeElement.localName')).toBe('body');
    await run('test.element.open = false; test.element.open();');
    expect(await focused(shown)).toBe('Message');
    await run('test.element.close()');
    expect(await focused(shown)).toBe('Open chat');
    await page.getByLabel('Search').focus();
    await run(`test.element.setAttribute('open', ''); test.element.close();`);
    expect(await focused(shown)).toBe('Search');
  });

  it('sends a message for the page without opening, and says why it cannot', async () => {
    const { run, page } = await visit();
    await run(`await test.element.send('Hello')`);
    expect(await run('return test.chats[0].calls')).toEqual(['start', 'send Hello']);
    expect(await page.locator('agent-chat .panel').isVisible()).toBe(false);
    const failed = await visit();
    expect(
      await failed.run(
        `test.startsAs = 'failed'; test.failure = { code: 'credentials', message: 'Not today', terminal: true }; return test.element.send('Hello').catch(({ message }) => message)`,
      ),
    ).toBe('agent-chat: Not today');
  });

  it('shows the developer what is wrong with its options', async () => {
    const { page, run } = await visit();
    const error = await run(`
      const { AgentChatElement, ChatClient } = await import('/widget/agent-chat.js');
      AgentChatElement.createChat = (options) => new ChatClient(options);
      try { test.element.options = { mode: 'session', credentials: '/s', apiKey: 'k' }; } catch ({ message }) { return message; }`);
    expect(error).toContain('apiKey must not be given');
    await page.getByText('apiKey must not be given').waitFor();
  });
});

describe('the menu', () => {
  const menu = ({ page }: ElementPage) => page.getByRole('button', { name: 'More options' });
  const opened = async (attributes: Readonly<Record<string, string>> = {}): Promise<ElementPage> => {
    const shown = await visit(attributes);
    await shown.page.locator('agent-chat .launcher').click();
    return shown;
  };

  it('is operated by the keyboard', async () => {
    const shown = await opened({ sound: '' });
    const { page } = shown;
    await menu(shown).focus();
    await page.keyboard.press('Enter');
    expect(await focused(shown)).toBe('New conversation');
    await page.keyboard.press('ArrowUp');
    expect(await focused(shown)).toBe('Turn sound on');
    await page.keyboard.press('ArrowDown');
    expect(await focused(shown)).toBe('New conversation');
    await page.keyboard.press('End');
    expect(await focused(shown)).toBe('Turn sound on');
    await page.keyboard.press('Escape');
    expect(await focused(shown)).toBe('More options');
    expect(await page.getByRole('menu').isVisible()).toBe(false);
    expect(await page.getByRole('dialog').isVisible()).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
  });

  it('asks before it leaves a conversation that has messages', async () => {
    const shown = await opened();
    const { page, run } = shown;
    const start = async () => {
      await menu(shown).click();
      await page.getByRole('menuitem', { name: 'New conversation' }).click();
    };
    await start();
    await until(async () => (await run<string[]>('return test.chats[0].calls')).includes('new'), 'it is new at once');
    await run(`await test.element.send('Hello')`);
    await start();
    const dialog = page.getByRole('alertdialog', { name: 'Start a new conversation?' });
    await dialog.waitFor();
    expect(await focused(shown)).toBe('Cancel');
    await page.keyboard.press('Tab');
    expect(await focused(shown)).toBe('Start new');
    await page.keyboard.press('Tab');
    expect(await focused(shown)).toBe('Cancel');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(shown)).toBe('More options');
    expect(await run('return test.chats[0].state.messages.length')).toBe(2);
    await start();
    await page.getByRole('button', { name: 'Start new' }).click();
    await until(async () => (await run('return test.chats[0].state.messages.length')) === 0, 'the messages are gone');
    expect(await focused(shown)).toBe('Message');
    expect(shown.problems).toEqual([]);
  });

  it('shows the earlier conversations: failed, none, and to choose from', async () => {
    const shown = await opened();
    const { page, run } = shown;
    const show = async () => {
      await menu(shown).click();
      await page.getByRole('menuitem', { name: 'Previous conversations' }).click();
    };
    await show();
    await page.locator('.history-note', { hasText: 'The conversations could not be loaded.' }).waitFor();
    await run('test.lists.push([])');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.history-note', { hasText: 'There are no previous conversations.' }).waitFor();
    await page.keyboard.press('Escape');
    expect(await focused(shown)).toBe('More options');
    await run(`test.lists.push([
      { threadId: 't1', title: '<b>First</b>', updatedAt: new Date().toISOString() },
      { threadId: 't0', title: null, updatedAt: new Date(Date.now() - 90_000_000).toISOString() }])`);
    await show();
    expect(await page.locator('.history-item[aria-current=true]').textContent()).toBe(
      '<b>First</b>This conversation · now',
    );
    await page.getByRole('button', { name: 'Conversation yesterday' }).click();
    await until(async () => (await run<string[]>('return test.chats[0].calls')).includes('open t0'), 'it is opened');
    expect(await focused(shown)).toBe('Message');
    expect(shown.problems).toEqual([]);
  });

  it('downloads what was said', async () => {
    const shown = await opened();
    await shown.run(`await test.element.send('Hello')`);
    await menu(shown).click();
    const download = shown.page.waitForEvent('download');
    await shown.page.getByRole('menuitem', { name: 'Download transcript' }).click();
    expect((await download).suggestedFilename()).toMatch(/\.txt$/);
    expect(shown.problems).toEqual([]);
  });

  it('turns on a sound, which is heard only while the panel is closed', async () => {
    const shown = await opened({ sound: '' });
    const { page, run } = shown;
    await run(
      `globalThis.tones = 0; const { start } = OscillatorNode.prototype; OscillatorNode.prototype.start = function (at) { tones += 1; start.call(this, at); };`,
    );
    const tones = () => run<number>('return tones');
    await run(`test.chats[0].reply('Silent')`);
    await menu(shown).click();
    await page.getByRole('menuitem', { name: 'Turn sound on' }).click();
    await until(async () => (await tones()) === 2, 'a sample is heard');
    await run(`test.chats[0].reply('Seen'); test.element.close(); test.chats[0].reply('Heard');`);
    await until(async () => (await tones()) === 4, 'the reply is heard');
    await page.locator('agent-chat .launcher').click();
    await menu(shown).click();
    await page.getByRole('menuitem', { name: 'Turn sound off' }).waitFor();
    expect(await tones()).toBe(4);
    expect(shown.problems).toEqual([]);
  });
});

describe('a teaser', () => {
  it('comes after some seconds, once in a tab, and is dismissed or opens the chat', async () => {
    const context = await browser.visitor();
    await context.clock.install();
    const attributes = { teaser: 'Questions? <b>Ask</b>' };
    const load = async () => {
      const shown = await site.visit(context, attributes);
      await shown.page.locator('agent-chat .launcher').waitFor();
      return shown;
    };
    const first = await load();
    const teaser = first.page.locator('agent-chat .teaser');
    expect(await teaser.isVisible()).toBe(false);
    await first.page.clock.fastForward(5000);
    await teaser.waitFor();
    const boxes = await first.run<number[]>(
      `const box = (name) => test.element.shadowRoot.querySelector(name).getBoundingClientRect(); return [box('.teaser').bottom, box('.launcher').top]`,
    );
    expect(boxes[0]).toBeLessThan(boxes[1]!);
    await first.page.getByRole('button', { name: 'Close this message' }).click();
    expect(await teaser.isVisible()).toBe(false);
    await first.page.reload();
    await first.page.locator('agent-chat .launcher').waitFor();
    await first.page.clock.fastForward(5000);
    expect(await teaser.isVisible()).toBe(false);
    const other = await load();
    await other.page.clock.fastForward(5000);
    await other.page.getByRole('button', { name: 'Questions? <b>Ask</b>' }).click();
    await other.page.getByRole('dialog').waitFor();
    expect(await other.page.locator('agent-chat .teaser').isVisible()).toBe(false);
  });
});
