import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { calls, says } from '../support/scripted-models.js';
import { picture, useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { WidgetPage } from './widget-page.js';

const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let site: CustomerSite;

beforeAll(async () => {
  organization = await service.organization('--features', 'response_components');
  const agentId = await service.agent(organization.key);
  const responseComponents = { frequency: 'high', components: { list: true } };
  await service.http('PATCH', `/v1/agents/${agentId}`, { key: organization.key, body: { responseComponents } });
  site = await CustomerSite.start(service, { key: organization.key, agentId });
});
afterAll(() => site.close());

const visit = async (): Promise<WidgetPage> => {
  const widget = await WidgetPage.visit(await browser.visitor(), site.origin);
  await widget.open();
  return widget;
};

describe('a component', () => {
  it('asks with buttons; the choice becomes the next message, and the buttons show it', async () => {
    const widget = await visit();
    service.models.next(
      calls('present_confirm', { question: 'Shall I book it?', confirmLabel: 'Book it', cancelLabel: 'Wait' }),
      says('Well?'),
    );
    await widget.say('A table for two');
    const group = widget.page.getByRole('group', { name: 'Shall I book it?' });
    await group.waitFor();
    await widget.status('ready');
    await picture(widget.page, 'confirm');
    service.models.next(says('Booked.'));
    await group.getByRole('button', { name: 'Book it' }).click();
    await widget.messages.getByText('Booked.').waitFor();
    expect((await widget.state()).messages.map(({ text }) => text)).toContain('Book it');
    expect(await group.getByRole('button', { name: 'Wait' }).getAttribute('aria-disabled')).toBe('true');
    await picture(widget.page, 'chosen');
    expect(widget.problems).toEqual([]);
  });

  it('lets the visitor choose one of several options, even after a reload', async () => {
    const widget = await visit();
    const options = [{ label: 'Red', description: 'Like a rose' }, { label: 'Blue' }];
    service.models.next(calls('present_select', { question: 'Which colour?', options }), says('Choose.'));
    await widget.say('A bicycle');
    await widget.page.getByRole('group', { name: 'Which colour?' }).waitFor();
    await widget.status('ready');
    await widget.page.reload();
    service.models.next(says('Blue it is.'));
    await widget.page.getByRole('button', { name: 'Blue' }).click();
    await widget.messages.getByText('Blue it is.').waitFor();
    expect(widget.problems).toEqual([]);
  });

  it('shows a card and a list, and loads pictures only on request', async () => {
    const widget = await visit();
    const image = { url: 'https://pictures.example/bicycle.png', alt: 'A bicycle' };
    const links = [{ label: 'See it', url: 'https://shop.example/1' }];
    service.models.next(
      calls('present_card', {
        title: 'Climber',
        subtitle: 'Touring',
        fields: [{ label: 'Price', value: '1,200 €' }],
        image,
        links,
      }),
      calls('present_list', { title: 'Others', items: [{ title: 'City', text: 'For bags', links }] }, 'call_2'),
      says('These.'),
    );
    await widget.say('Show me');
    await widget.page.getByText('Climber', { exact: true }).waitFor();
    await widget.status('ready');
    await picture(widget.page, 'card-and-list');
    expect(widget.requests.filter((request) => request.includes('pictures.example'))).toEqual([]);
    await widget.page.getByRole('button', { name: 'Show image from pictures.example' }).click();
    await until(
      () => widget.requests.filter((request) => request.includes('pictures.example')).length === 1,
      'the picture is fetched',
    );
    const link = widget.page.getByRole('link', { name: 'See it' }).first();
    expect(await link.getAttribute('rel')).toBe('noopener noreferrer nofollow');
    expect(widget.problems).toEqual([]);
  });
});

describe('a hostile reply', () => {
  it('runs no script, fetches nothing and navigates nowhere', async () => {
    const widget = await visit();
    const hostile = [
      '<script>window.pwned = 1</script><img src=x onerror="window.pwned = 1"><svg onload="window.pwned = 1">',
      '<iframe src="javascript:parent.pwned=1"></iframe>',
      '[a link](javascript:window.pwned=1) [another](JaVaScRiPt:alert(1)) [data](data:text/html,<script>1</script>) <javascript:alert(1)>',
      '![tracking](https://tracker.example/pixel.gif?visitor=1) ![inline](data:image/png;base64,AAAA)',
      '[![nested](https://tracker.example/nested.gif)](https://tracker.example/)',
      '`<b onclick=alert(1)>` **bold <img src=https://tracker.example/bold.gif>**',
      '<style>*{background:url(https://tracker.example/style)}</style>',
      '```html\n<script>window.pwned = 1</script>\n```',
    ].join('\n\n');
    service.models.next(says(hostile));
    await widget.say('Do your worst');
    await widget.page.getByText('<iframe').first().waitFor();
    await widget.status('ready');
    await picture(widget.page, 'hostile');
    const inside = await widget.page.locator('agent-chat').evaluate((element) => {
      const root = (
        element as unknown as {
          shadowRoot: { querySelectorAll(selector: string): Iterable<{ getAttribute(name: string): string | null }> };
        }
      ).shadowRoot;
      return {
        forbidden: [...root.querySelectorAll('script, iframe, img, style, object, embed, form:not(.composer)')].length,
        links: [...root.querySelectorAll('a')].map((link) => link.getAttribute('href')),
        pwned: Reflect.get(globalThis, 'pwned') as unknown,
      };
    });
    // Links are followed only by a click, and lead to the URL that they show.
    expect(inside).toEqual({ forbidden: 0, links: expect.any(Array), pwned: undefined });
    for (const link of inside.links) expect(link).toMatch(/^https:\/\/tracker\.example\//);
    expect(
      widget.requests.filter((request) => !request.includes(site.origin) && !request.includes(service.baseUrl)),
    ).toEqual([]);
    expect(widget.problems).toEqual([]);
  });

  it('of any size does not stop the page', async () => {
    const widget = await visit();
    for (const piece of ['[', '*a ', '> ', '`', '|-', '![](', '- ', '_', '<', '~~']) {
      service.models.next(says(`begin ${piece.repeat(40_000 / piece.length)} end`));
      await widget.say('More');
      await widget.status('ready');
      // The page responds at once, whatever it shows.
      await widget.input.fill('');
    }
    expect(
      (await widget.state()).messages.filter(({ role, status }) => role === 'assistant' && status === 'completed'),
    ).toHaveLength(10);
    expect(widget.problems).toEqual([]);
  });
});

describe('a thumb', () => {
  it('is sent to the customer’s server, and can be removed', async () => {
    const widget = await visit();
    service.models.next(says('Good?'));
    await widget.say('Hello');
    await widget.messages.getByText('Good?').waitFor();
    const up = widget.page.getByRole('button', { name: 'Good reply' });
    await up.click();
    await until(async () => (await up.getAttribute('aria-pressed')) === 'true', 'the thumb is up');
    await up.click();
    await until(
      async () => (await up.getAttribute('aria-pressed')) === 'false' && site.reactions.length === 2,
      'the thumb is taken back',
    );
    expect(site.reactions).toMatchObject([
      { reaction: 'thumbs_up', messageId: expect.any(String) },
      { reaction: null },
    ]);
  });
});

describe('a tool that needs approval', () => {
  it('is shown with its input, and called when the visitor approves', async () => {
    const agentId = await service.agent(organization.key, { tools: { requireApprovalBeforeToolCalls: true } });
    const integration = { type: 'managed-mcp', app: 'everything' };
    await service.http('POST', `/v1/agents/${agentId}/tool-integrations`, { key: organization.key, body: integration });
    const own = await CustomerSite.start(service, { key: organization.key, agentId });
    try {
      const widget = await WidgetPage.visit(await browser.visitor(), own.origin);
      await widget.open();
      service.models.next(calls('mcp__everything__echo', { message: 'Hi there' }), says('It said hi.'));
      await widget.say('Use it');
      await widget.status('awaiting_approval');
      await picture(widget.page, 'approval');
      await widget.page.getByRole('button', { name: 'Approve' }).click();
      await widget.messages.getByText('It said hi.').waitFor();
      await widget.page.getByText('Used echo').first().waitFor();
      expect(widget.problems).toEqual([]);
    } finally {
      await own.close();
    }
  });
});
