import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, useService } from '../support/harness.js';
import { calls, HeldReply, says } from '../support/scripted-models.js';
import { violations } from './axe.js';
import { picture, useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let agentId: string;
const sites: CustomerSite[] = [];

beforeAll(async () => {
  organization = await service.organization('--features', 'response_components');
  agentId = await service.agent(organization.key);
  const responseComponents = { frequency: 'high', components: { list: true } };
  await service.http('PATCH', `/v1/agents/${agentId}`, { key: organization.key, body: { responseComponents } });
});
afterAll(() => Promise.all(sites.map((site) => site.close())));

async function siteWith(attributes = ''): Promise<CustomerSite> {
  const site = await CustomerSite.start(service, { key: organization.key, agentId, attributes });
  sites.push(site);
  return site;
}

/** A conversation with every kind of content. */
async function fillConversation(widget: WidgetPage): Promise<void> {
  const text =
    '# Title\n\nSome **bold** text with `code`, a [link](https://example.com) and an ![image](https://example.com/i.png).\n\n- one\n  - two\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\n```js\nconst long = "a line of code that is far too long for a small screen, so that it has to scroll";\n```\n\n> Quoted';
  service.models.next(says(text));
  await widget.say('Show me everything');
  await widget.status('ready');
  service.models.next(
    calls('present_card', {
      title: 'A card',
      fields: [{ label: 'Price', value: '1 €' }],
      links: [{ label: 'See', url: 'https://example.com' }],
    }),
    calls(
      'present_select',
      { question: 'Which one?', options: [{ label: 'This', description: 'The first' }, { label: 'That' }] },
      'call_2',
    ),
    says('Choose.'),
  );
  await widget.say('And more');
  await widget.page.getByRole('group', { name: 'Which one?' }).waitFor();
  await widget.status('ready');
}

describe.each([
  ['light', { colorScheme: 'light' }, ''],
  ['dark', { colorScheme: 'dark' }, ''],
  ['right to left', { colorScheme: 'light' }, 'dir="rtl"'],
  ['a screen of 320 pixels', { viewport: { width: 320, height: 568 } }, ''],
  ['in its place on the page', { colorScheme: 'light' }, 'layout="inline"'],
  ['little motion', { reducedMotion: 'reduce' }, ''],
] as const)('for everybody: %s', (name, options, attributes) => {
  it('has no violations that axe finds, and no element wider than the screen', async () => {
    const site = await siteWith(attributes);
    const widget = await WidgetPage.visit(await browser.visitor(options), site.origin);
    const isInline = attributes.includes('inline');
    if (!isInline) {
      expect(await violations(widget.page)).toEqual([]);
      await widget.launcher.click();
    }
    await widget.status('ready');
    expect(await violations(widget.page)).toEqual([]);
    await fillConversation(widget);
    await picture(widget.page, `for-everybody-${name.replaceAll(' ', '-')}`);
    expect(await violations(widget.page)).toEqual([]);
    const held = new HeldReply(['Half of'], [' it']);
    service.models.next(held.script);
    await widget.say('Slowly');
    await widget.messages.getByText('Half of').waitFor();
    expect(await violations(widget.page)).toEqual([]);
    held.finish();
    await widget.status('ready');
    const width = await widget.page.evaluate(() => {
      const { scrollWidth, clientWidth } = (
        globalThis as unknown as { document: { documentElement: { scrollWidth: number; clientWidth: number } } }
      ).document.documentElement;
      return scrollWidth - clientWidth;
    });
    expect(width).toBe(0);
    expect(await widget.log.evaluate((log) => log.scrollWidth - log.clientWidth)).toBe(0);
    expect(widget.problems).toEqual([]);
  });
});

describe('with the keyboard alone', () => {
  it('a visitor opens the chat, writes, chooses and closes it, and the focus is always visible', async () => {
    const site = await siteWith();
    const widget = await WidgetPage.visit(await browser.visitor(), site.origin);
    const { keyboard } = widget.page;
    const focused = () =>
      widget.page.locator('agent-chat').evaluate((element) => {
        const active = (
          element as unknown as {
            shadowRoot: { activeElement: { getAttribute(name: string): string | null; textContent: string } | null };
          }
        ).shadowRoot.activeElement;
        return active && (active.getAttribute('aria-label') ?? active.textContent);
      });
    await widget.launcher.waitFor();
    // A page without any interaction has no focus to move.
    await widget.page.getByRole('heading', { name: 'A shop' }).click();
    await keyboard.press('Tab');
    expect(await focused()).toBe('Open chat');
    await keyboard.press('Enter');
    await widget.status('ready');
    expect(await focused()).toBe('Message');
    service.models.next(calls('present_confirm', { question: 'Sure?' }), says('Well?'));
    await keyboard.type('Hello');
    await keyboard.press('Shift+Enter');
    await keyboard.type('there');
    await keyboard.press('Enter');
    await widget.page.getByRole('group', { name: 'Sure?' }).waitFor();
    await widget.status('ready');
    expect((await widget.state()).messages[0]?.text).toBe('Hello\nthere');
    // The reply has not taken the focus.
    expect(await focused()).toBe('Message');
    service.models.next(says('Good.'));
    for (let steps = 0; steps < 20 && (await focused()) !== 'Yes'; steps += 1) await keyboard.press('Shift+Tab');
    expect(await focused()).toBe('Yes');
    await keyboard.press('Enter');
    await widget.messages.getByText('Good.').waitFor();
    expect(await focused()).toBe('Yes');
    await keyboard.press('Escape');
    expect(await focused()).toBe('Open chat');
    await keyboard.press('Enter');
    expect(await focused()).toBe('Message');
    expect(widget.problems).toEqual([]);
  });

  it('a finished reply is announced once to screen readers, and not word by word', async () => {
    const site = await siteWith();
    const widget = await WidgetPage.visit(await browser.visitor(), site.origin);
    await widget.open();
    const live = widget.page.locator('agent-chat [aria-live=polite]');
    const held = new HeldReply(['One'], [' two']);
    service.models.next(held.script);
    await widget.say('Count');
    await widget.messages.getByText('One').waitFor();
    expect(await live.textContent()).not.toContain('One');
    held.finish();
    await widget.status('ready');
    await widget.page.getByText('Assistant: One two').waitFor({ state: 'attached' });
    expect(await live.textContent()).toBe('Assistant: One two');
  });
});
