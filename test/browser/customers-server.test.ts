import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { refuses, says } from '../support/scripted-models.js';
import { useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { ShopSite } from './shop-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let agentId: string;
const sites: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
});
afterAll(() => Promise.all(sites.map((site) => site.close())));

async function customer(): Promise<CustomerSite> {
  const site = await CustomerSite.start(service, { key: organization.key, agentId });
  sites.push(site);
  return site;
}

async function shop(attributes = ''): Promise<ShopSite> {
  const site = await ShopSite.start(service, { key: organization.key, agentId, attributes });
  sites.push(site);
  return site;
}

async function visit(site: CustomerSite | ShopSite): Promise<WidgetPage> {
  return WidgetPage.visit(await browser.visitor(), site.origin);
}

const texts = async (widget: WidgetPage): Promise<string[]> => (await widget.state()).messages.map(({ text }) => text);

describe('a conversation that the customer’s server continues', () => {
  it('shows its messages in a fresh tab before the visitor writes', async () => {
    const site = await customer();
    const first = await visit(site);
    await first.open();
    service.models.next(says('Nice to meet you.'));
    await first.say('I am Ida');
    await first.messages.getByText('Nice to meet you.').waitFor();
    const { threadId } = (await first.state()) as unknown as { threadId: string };
    site.lastThread = threadId;
    const later = await visit(site);
    await later.open();
    await later.messages.getByText('Nice to meet you.').waitFor();
    expect(await texts(later)).toEqual(['I am Ida', 'Nice to meet you.']);
    expect(later.problems).toEqual([]);
  });
});

describe('a customer’s server that is busy', () => {
  it('does not end the conversation: the widget asks again, and then the visitor can', async () => {
    const site = await customer();
    site.busyFor = 3;
    const patient = await visit(site);
    await patient.open();
    expect(site.asked).toHaveLength(4);
    site.busyFor = 4;
    const widget = await visit(site);
    await widget.launcher.click();
    await widget.status('failed');
    expect((await widget.state()).failure).toMatchObject({ code: 'unavailable', terminal: false });
    await widget.page.getByRole('button', { name: 'Try again' }).click();
    await widget.status('ready');
    service.models.next(says('Here I am.'));
    await widget.say('Hello?');
    await widget.messages.getByText('Here I am.').waitFor();
    expect(widget.problems).toEqual([]);
  });
});

describe('what goes wrong at the operator’s', () => {
  it('reaches the page as a code, and the visitor as what to do', async () => {
    const widget = await visit(await customer());
    await widget.open();
    await widget.page.locator('agent-chat').evaluate((element) => {
      element.addEventListener('chatError', (event: unknown) =>
        Reflect.set(element, 'told', (event as { detail: object }).detail),
      );
    });
    service.models.next(refuses(401));
    await widget.say('Hello');
    await widget.log.getByText('The chat is not available at the moment. Please try again later.').waitFor();
    const told = await widget.page.locator('agent-chat').evaluate((element) => Reflect.get(element, 'told') as object);
    expect(told).toMatchObject({ code: expect.stringMatching(/^provider_/), message: expect.any(String) });
    const shown = await widget.page.locator('agent-chat .panel').innerText();
    expect(shown).not.toMatch(/provider|API key|model/i);
    expect(widget.problems).toEqual([]);
  });
});

describe('a shop whose server is the shipped handler', () => {
  it('gives the visitor the earlier conversations', async () => {
    const widget = await visit(await shop());
    await widget.open();
    service.models.next(says('On Monday.'));
    await widget.say('When do you open?');
    await widget.messages.getByText('On Monday.').waitFor();
    await widget.page.evaluate(`document.querySelector('agent-chat').newConversation()`);
    await until(async () => (await texts(widget)).length === 0, 'the new conversation is empty');
    await widget.status('ready');
    await widget.page.getByRole('button', { name: 'More options' }).click();
    await widget.page.getByRole('menuitem', { name: 'Previous conversations' }).click();
    await widget.page.locator('agent-chat .history-item').first().click();
    await widget.messages.getByText('On Monday.').waitFor();
    service.models.next(says('Also on Sunday.'));
    await widget.say('And at the weekend?');
    await widget.messages.getByText('Also on Sunday.').waitFor();
    expect(await texts(widget)).toEqual(['When do you open?', 'On Monday.', 'And at the weekend?', 'Also on Sunday.']);
    expect(widget.problems).toEqual([]);
  });

  it('relays messages, suggestions and ratings in proxy mode, and the browser never speaks to the service', async () => {
    const site = await shop('mode="proxy"');
    const widget = await visit(site);
    await widget.open();
    service.models.next(
      says('We have three.'),
      says('["Show me the cheapest", "Which is lightest?", "Can I try one?"]'),
    );
    await widget.say('Which bicycles do you have?');
    const suggestion = widget.page.getByRole('button', { name: 'Which is lightest?' });
    await suggestion.waitFor();
    service.models.next(says('The Folding 16.'), says('["Thanks", "How much?", "In red?"]'));
    await suggestion.click();
    await widget.messages.getByText('The Folding 16.').waitFor();
    await widget.page.getByRole('button', { name: 'Good reply' }).last().click();
    await until(
      () => widget.requests.some((request) => request.startsWith(`PUT ${site.origin}/chat/v1/threads/`)),
      'the rating is sent',
    );
    const elsewhere = widget.requests.filter((request) => !request.includes(site.origin) && !request.endsWith('.js'));
    expect(elsewhere).toEqual([]);
    expect(widget.problems).toEqual([]);
  });
});
