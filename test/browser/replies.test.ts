import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { answers, calls, HeldReply, refuses, says } from '../support/scripted-models.js';
import { picture, useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
/** Its agent uses a tool and shows components. */
let site: CustomerSite;
/** Its agent asks before it calls a tool. */
let asking: CustomerSite;

async function siteOf(settings: Readonly<Record<string, unknown>>): Promise<CustomerSite> {
  const { key } = organization;
  const agentId = await service.agent(key, settings);
  await service.http('POST', `/v1/agents/${agentId}/tool-integrations`, {
    key,
    body: { type: 'managed-mcp', app: 'everything' },
  });
  const responseComponents = { frequency: 'high', components: { list: true } };
  await service.http('PATCH', `/v1/agents/${agentId}`, { key, body: { responseComponents } });
  return CustomerSite.start(service, {
    key,
    agentId,
    attributes: 'starters="Where is my order?|Which sizes are there?"',
  });
}

beforeAll(async () => {
  organization = await service.organization('--features', 'response_components');
  site = await siteOf({});
  asking = await siteOf({ tools: { requireApprovalBeforeToolCalls: true } });
});
afterAll(async () => {
  await site.close();
  await asking.close();
});

const visit = async (on: CustomerSite = site, options = {}): Promise<WidgetPage> => {
  const widget = await WidgetPage.visit(await browser.visitor(options), on.origin);
  await widget.open();
  return widget;
};

const echo = (message: string, id: string) => ({ id, name: 'mcp__everything__echo', input: { message } });

/** The kinds of the parts of the last reply, in the order in which they are drawn. */
const partsOf = (widget: WidgetPage): Promise<string[]> =>
  widget.page
    .locator('agent-chat .message.assistant:not(.greeting) .parts')
    .last()
    .locator('> *')
    .evaluateAll((parts) => parts.map((part) => part.className.split(' ')[0] ?? ''));

const reopen = async (widget: WidgetPage): Promise<void> => {
  await widget.page.reload();
  await widget.log.or(widget.launcher).first().waitFor();
  if (!(await widget.log.isVisible())) await widget.launcher.click();
};

const isPressed = (button: Locator): Promise<string | null> => button.getAttribute('aria-pressed');

describe('a reply', () => {
  it('has its texts, tools and components in their order, each tool once, also after a reload', async () => {
    const widget = await visit();
    service.models.next(
      answers({ text: 'Let me look.', calls: [echo('Found it', 'call_1')] }),
      answers({ text: 'One moment.', calls: [{ id: 'call_2', name: 'present_card', input: { title: 'A bicycle' } }] }),
      says('That is it.'),
    );
    await widget.say('Find it');
    await widget.messages.getByText('That is it.').waitFor();
    await widget.status('ready');
    const expected = ['bubble', 'tool-part', 'bubble', 'component', 'bubble'];
    expect(await partsOf(widget)).toEqual(expected);
    expect(await widget.page.getByText('Used echo').count()).toBe(1);
    await widget.page.getByText('Used echo').click();
    // The input and the output, in words.
    await widget.page.getByRole('rowheader', { name: 'Message' }).waitFor();
    expect(await widget.page.getByRole('cell', { name: 'Found it', exact: true }).count()).toBe(1);
    await picture(widget.page, 'reply-in-order');
    await reopen(widget);
    await widget.messages.getByText('That is it.').waitFor();
    expect(await partsOf(widget)).toEqual(expected);
    expect(await widget.page.getByText('Used echo').count()).toBe(1);
    expect(widget.problems).toEqual([]);
  });

  it('keeps what the reader has opened and selected while it grows', async () => {
    const widget = await visit();
    const held = new HeldReply(['It goes'], [' on and on.']);
    service.models.next(answers({ text: 'First.', calls: [echo('Hi', 'call_1')] }), held.script);
    await widget.say('Begin');
    await widget.messages.getByText('It goes').waitFor();
    await widget.page.getByText('Used echo').click();
    const first = widget.messages.getByText('First.', { exact: true });
    await first.evaluate((node) => Reflect.set(node, 'isMarked', true));
    held.finish();
    await widget.messages.getByText('It goes on and on.').waitFor();
    await widget.status('ready');
    expect(await widget.page.locator('agent-chat details.tool').getAttribute('open')).toBe('');
    expect(await first.evaluate((node) => Reflect.get(node, 'isMarked') as unknown)).toBe(true);
  });

  it('that failed can be tried again', async () => {
    const widget = await visit();
    service.models.always(refuses(400));
    await widget.say('Hello?');
    await widget.log.getByText('There was no reply.').waitFor();
    await picture(widget.page, 'reply-failed');
    // The note says it, so the line below the conversation does not.
    expect(await widget.page.locator('agent-chat .status').isVisible()).toBe(false);
    service.models.reset();
    service.models.next(says('Here I am.'));
    await widget.page.getByRole('button', { name: 'Try again' }).click();
    await widget.messages.getByText('Here I am.').waitFor();
    await widget.status('ready');
    expect(await widget.page.getByRole('button', { name: 'Try again' }).isVisible()).toBe(false);
  });

  it('is announced as text, with the question of its component, and not again after a reload', async () => {
    const widget = await visit();
    const live = widget.page.locator('agent-chat [aria-live=polite]');
    service.models.next(
      answers({
        text: 'This is **bold**:\n\n- [x] one\n- two[^1] $x^2$\n\n[^1]: Note.',
        calls: [{ id: 'call_1', name: 'present_confirm', input: { question: 'Go on?' } }],
      }),
      says('Well?'),
    );
    await widget.say('Speak');
    await until(async () => (await live.textContent())?.includes('Well?') === true, 'the reply is announced');
    expect(await live.textContent()).toBe('Assistant: This is bold: Done one two1 x² Note. Go on? Well?');
    await reopen(widget);
    await widget.messages.getByText('Well?').waitFor();
    await widget.status('ready');
    expect(await live.textContent()).not.toContain('Well?');
  });
});

describe('an approval', () => {
  it('is asked for in words, decided by keyboard for each call, sent with the last, and shown afterwards', async () => {
    const widget = await visit(asking);
    service.models.next(
      answers({
        text: 'I need two things.',
        calls: [echo('Hi there', 'call_1'), echo('https://bye.example', 'call_2')],
      }),
    );
    await widget.say('Do it');
    await widget.status('awaiting_approval');
    const cards = widget.page.getByRole('group', { name: 'Your approval is needed: echo' });
    expect(await cards.count()).toBe(2);
    const row = cards.first().getByRole('row', { name: 'Message Hi there' });
    expect(await row.count()).toBe(1);
    expect(await cards.last().getByRole('link').count()).toBe(0);
    expect(await cards.first().textContent()).not.toMatch(/[{}"]/);
    await picture(widget.page, 'approval-cards');
    const [approve, decline] = ['Approve', 'Decline'].map((name) => cards.first().getByRole('button', { name })) as [
      Locator,
      Locator,
    ];
    await decline.focus();
    await decline.press('Enter');
    expect([await isPressed(approve), await isPressed(decline)]).toEqual(['false', 'true']);
    // Until all are decided, a decision can be changed, and nothing is sent.
    await approve.press('Space');
    expect([await isPressed(approve), await isPressed(decline)]).toEqual(['true', 'false']);
    expect(service.models.requests).toHaveLength(1);
    service.models.next(says('One of two.'));
    await cards.last().getByRole('button', { name: 'Decline' }).press('Enter');
    await widget.messages.getByText('One of two.').waitFor();
    await widget.status('ready');
    const shown = async (): Promise<string[]> => widget.page.locator('agent-chat .tool-label').allTextContents();
    expect(await cards.count()).toBe(0);
    expect(await shown()).toEqual(['Used echo', 'Declined: echo']);
    await picture(widget.page, 'approval-decided');
    await reopen(widget);
    await widget.messages.getByText('One of two.').waitFor();
    expect(await shown()).toEqual([expect.stringMatching(/^(Used|You approved:) echo$/), 'Declined: echo']);
    expect(widget.problems).toEqual([]);
  });

  it('of what is too long to be seen at once is possible when all of it is shown', async () => {
    const widget = await visit(asking);
    const input = {
      ...Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`row${String(index)}`, index])),
      message: `${'long '.repeat(80)}end of value`,
      to: 'a\u202eb',
    };
    service.models.next(answers({ calls: [{ id: 'call_1', name: 'mcp__everything__echo', input }] }));
    await widget.say('Do it');
    await widget.status('awaiting_approval');
    const approve = widget.page.getByRole('button', { name: 'Approve' });
    const showAll = widget.page.getByRole('button', { name: 'Show all' });
    expect(await approve.getAttribute('aria-disabled')).toBe('true');
    await approve.press('Enter');
    expect([await isPressed(approve), await showAll.evaluate((each) => each.matches(':focus'))]).toEqual([
      'false',
      true,
    ]);
    await widget.page.keyboard.press('Enter');
    await widget.page.locator('agent-chat .approval').getByText('end of value').waitFor();
    await until(async () => (await approve.getAttribute('aria-disabled')) === 'false', 'it can be approved');
    expect(await widget.page.locator('agent-chat .approval tr').count()).toBe(452);
    expect(await widget.page.locator('agent-chat .approval tr').last().textContent()).toBe('Toa\\u202eb');
    service.models.next(says('Done.'));
    await approve.press('Enter');
    await widget.messages.getByText('Done.').waitFor();
  });

  it('that is decided is remembered when the language changes', async () => {
    const widget = await visit(asking);
    service.models.next(answers({ calls: [echo('One', 'call_1'), echo('Two', 'call_2')] }));
    await widget.say('Do it');
    await widget.status('awaiting_approval');
    await widget.page.getByRole('button', { name: 'Decline' }).first().click();
    await widget.page.locator('agent-chat').evaluate((element) => element.setAttribute('lang', 'de'));
    const decline = widget.page.getByRole('button', { name: 'Ablehnen' });
    await decline.first().waitFor();
    expect([await isPressed(decline.first()), await isPressed(decline.last())]).toEqual(['true', 'false']);
    service.models.next(says('Fertig.'));
    await decline.last().click();
    await widget.messages.getByText('Fertig.').waitFor();
  });

  it('is asked for again after a reload', async () => {
    const widget = await visit(asking);
    service.models.next(calls('mcp__everything__echo', { message: 'Hi' }));
    await widget.say('Do it');
    await widget.status('awaiting_approval');
    await reopen(widget);
    await widget.status('awaiting_approval');
    service.models.next(says('Done.'));
    await widget.page.getByRole('button', { name: 'Approve' }).click();
    await widget.messages.getByText('Done.').waitFor();
  });
});

describe('a choice', () => {
  it('is made with the arrow keys, and marked afterwards, also after a reload', async () => {
    const widget = await visit();
    const options = [{ label: 'Red', description: 'Like a rose' }, { label: 'Blue' }, { label: 'Green' }];
    service.models.next(calls('present_select', { question: 'Which colour?', options }), says('Choose.'));
    await widget.say('A bicycle');
    await widget.messages.getByText('Choose.').waitFor();
    await widget.status('ready');
    const choice = (label: string) => widget.page.getByRole('group', { name: 'Which colour?' }).getByText(label);
    const focused = () =>
      widget.page.locator('agent-chat .choice').evaluateAll((all) => all.findIndex((each) => each.matches(':focus')));
    await widget.page.getByRole('button', { name: 'Red' }).focus();
    for (const [key, at] of [
      ['ArrowUp', 2],
      ['ArrowDown', 0],
      ['ArrowRight', 1],
      ['End', 2],
      ['ArrowLeft', 1],
    ] as const) {
      await widget.page.keyboard.press(key);
      expect(await focused()).toBe(at);
    }
    // One stop of the Tab key.
    expect(await widget.page.locator('agent-chat .choice[tabindex="0"]').count()).toBe(1);
    service.models.next(says('Blue it is.'));
    await widget.page.keyboard.press('Enter');
    await widget.messages.getByText('Blue it is.').waitFor();
    const marked = () => widget.page.locator('agent-chat .choice.chosen').allTextContents();
    expect(await marked()).toEqual(['Blue']);
    await picture(widget.page, 'choice-made');
    await reopen(widget);
    await choice('Blue').waitFor();
    await widget.status('ready');
    expect(await marked()).toEqual(['Blue']);
    expect(await widget.page.getByRole('button', { name: 'Red' }).getAttribute('aria-disabled')).toBe('true');
  });
});

describe('below a reply', () => {
  it('buttons copy it and rate it, with a comment that the visitor may add', async () => {
    const widget = await visit(site, { permissions: ['clipboard-read', 'clipboard-write'] });
    const before = site.reactions.length;
    service.models.next(says('It is **here**.'));
    await widget.say('Where?');
    await widget.messages.getByText('It is here.').waitFor();
    await widget.page.getByRole('button', { name: 'Copy message' }).click();
    await widget.page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await widget.page.evaluate('navigator.clipboard.readText()')).toBe('It is **here**.');
    const down = widget.page.getByRole('button', { name: 'Bad reply' });
    await down.click();
    const form = widget.page.getByRole('group', { name: 'What could be better?' });
    // Escape closes the form, not the chat.
    await widget.page.keyboard.press('Escape');
    await form.waitFor({ state: 'detached' });
    expect(await widget.log.isVisible()).toBe(true);
    await until(async () => (await isPressed(down)) === 'true', 'the thumb is down');
    await down.click();
    await until(async () => (await isPressed(down)) === 'false', 'the thumb is taken back');
    await down.click();
    await widget.page.keyboard.type('Where is here?');
    await picture(widget.page, 'feedback');
    await form.getByRole('button', { name: 'Send' }).click();
    await widget.page.getByText('Thank you for your feedback.').first().waitFor();
    await form.waitFor({ state: 'detached' });
    expect(site.reactions.slice(before)).toMatchObject([
      { reaction: 'thumbs_down' },
      { reaction: null },
      { reaction: 'thumbs_down' },
      { reaction: 'thumbs_down', comment: 'Where is here?' },
    ]);
    expect(widget.problems).toEqual([]);
  });

  it('stand its time and, above the first message, its day', async () => {
    const widget = await visit();
    service.models.next(says('Noted.'));
    await widget.say('Note this');
    await widget.messages.getByText('Noted.').waitFor();
    const time = widget.page.locator('agent-chat .message.assistant time');
    expect(await time.textContent()).toMatch(/^\d{1,2}:\d\d/);
    expect(Date.parse((await time.getAttribute('datetime')) ?? '')).toBeGreaterThan(0);
    expect(await widget.page.locator('agent-chat .day').allTextContents()).toEqual(['Today']);
  });
});

describe('the conversation', () => {
  it('begins with a question that the page suggests', async () => {
    const widget = await visit();
    const starters = widget.page.getByRole('group', { name: 'Suggested questions' });
    await picture(widget.page, 'starters');
    service.models.next(says('On its way.'));
    await starters.getByRole('button', { name: 'Where is my order?' }).press('Enter');
    await widget.messages.getByText('On its way.').waitFor();
    expect((await widget.state()).messages[0]?.text).toBe('Where is my order?');
    expect(await starters.isVisible()).toBe(false);
  });

  it('stays where the reader is, and tells of new messages below', async () => {
    const widget = await visit();
    service.models.next(says(Array.from({ length: 60 }, (_, line) => `Line ${String(line)}`).join('\n\n')));
    await widget.say('A long story');
    await widget.messages.getByText('Line 59').waitFor();
    await widget.status('ready');
    const latest = widget.page.locator('agent-chat .latest');
    expect(await latest.isVisible()).toBe(false);
    const held = new HeldReply(['New'], [' and unread.']);
    service.models.next(held.script);
    await widget.say('More');
    // What arrives later than the reader scrolls away would already be new.
    await widget.messages.getByText('New', { exact: true }).waitFor();
    await widget.log.evaluate((log) => {
      log.scrollTop = 0;
    });
    await latest.waitFor();
    expect(await latest.textContent()).toBe('');
    held.finish();
    await widget.status('ready');
    await widget.page.getByRole('button', { name: 'New messages' }).waitFor();
    expect(await widget.log.evaluate((log) => log.scrollTop)).toBe(0);
    await picture(widget.page, 'new-messages');
    await latest.click();
    await latest.waitFor({ state: 'hidden' });
    expect(
      await widget.log.evaluate((log) => Math.abs(log.scrollHeight - log.scrollTop - log.clientHeight)),
    ).toBeLessThan(2);
  });

  it('is saved as a text, under the policy of the page', async () => {
    const widget = await visit();
    service.models.next(says('Saved.'));
    await widget.say('Save this');
    await widget.messages.getByText('Saved.').waitFor();
    await widget.page.getByRole('button', { name: 'More options' }).click();
    const downloaded = widget.page.waitForEvent('download');
    await widget.page.getByRole('menuitem', { name: 'Download transcript' }).click();
    const chunks = await Array.fromAsync(await (await downloaded).createReadStream());
    expect(Buffer.concat(chunks as Buffer[]).toString()).toMatch(/^You \(.+\):\nSave this\n\n.+ \(.+\):\nSaved\.\n$/);
    expect(widget.problems).toEqual([]);
  });
});
