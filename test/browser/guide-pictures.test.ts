import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { calls, HeldReply, says } from '../support/scripted-models.js';
import { violations } from './axe.js';
import { picture, useBrowser } from './chromium.js';
import { ShopSite } from './shop-site.js';
import { WidgetPage } from './widget-page.js';

/**
 * The pictures of docs/guide/widget.md: `npm run pictures` writes them there. Without that they are taken all the same, and each scene is
 * judged by axe and for content that is wider than the screen.
 */
const service = useService();
const browser = useBrowser();
let organization: TestOrganization;
let agentId: string;
let careful: string;
const sites: ShopSite[] = [];

beforeAll(async () => {
  organization = await service.organization('--features', 'response_components');
  agentId = await service.agent(organization.key);
  const responseComponents = { frequency: 'high', components: { list: true } };
  await service.http('PATCH', `/v1/agents/${agentId}`, { key: organization.key, body: { responseComponents } });
  careful = await service.agent(organization.key, { tools: { requireApprovalBeforeToolCalls: true } });
  const integration = { type: 'managed-mcp', app: 'everything' };
  await service.http('POST', `/v1/agents/${careful}/tool-integrations`, { key: organization.key, body: integration });
});
afterAll(() => Promise.all(sites.map((site) => site.close())));

const IDENTITY = 'heading="Mira" subtitle="Fernweg service" greeting="Hi, I am Mira. What are you planning?"';
const STARTERS = 'starters="Which bicycle suits me?|Where is my order?|I need a repair"';

const REPLY = `For **long tours with bags** I would take the Climber 500:

| Bicycle | Weight | Price |
| --- | ---: | ---: |
| Climber 500 | 11.4 kg | 1,200 € |
| City 200 | 14.2 kg | 890 € |

- [x] Fits both of your bags
- [ ] Needs a wider saddle, which we change for free

Your order would look like this in our shop:

\`\`\`json
{ "item": "climber-500", "frame": 56, "colour": "moss" }
\`\`\`

The gear ratio is $\\frac{48}{28} \\approx 1.7$, good for hills.[^1]

[^1]: Measured on the pass road, with 12 kg of bags.`;

const ARABIC = `للجولات الطويلة أنصحك بدراجة **Climber 500**:

| الدراجة | السعر |
| --- | ---: |
| Climber 500 | 1,200 € |
| City 200 | 890 € |

رقم الطلب \`FW-2041\` جاهز.`;

async function open(attributes: string, agent: string, options: object): Promise<WidgetPage> {
  const site = await ShopSite.start(service, { key: organization.key, agentId: agent, attributes });
  sites.push(site);
  return WidgetPage.visit(await browser.visitor(options), site.origin);
}

const scenes: Readonly<Record<string, (options: object) => Promise<WidgetPage>>> = {
  closed: async (options) => {
    const widget = await open(`${IDENTITY} teaser="Questions about your next tour?"`, agentId, options);
    await widget.page.getByText('Questions about your next tour?').waitFor();
    return widget;
  },
  greeting: async (options) => {
    const widget = await open(`${IDENTITY} ${STARTERS}`, agentId, options);
    await widget.open();
    await widget.page.getByRole('button', { name: 'Where is my order?' }).waitFor();
    return widget;
  },
  reply: async (options) => {
    const widget = await open(IDENTITY, agentId, options);
    await widget.open();
    service.models.next(says(REPLY));
    await widget.say('I want to ride to Lisbon in May. Which one?');
    await widget.status('ready');
    await widget.page.locator('agent-chat .code .hl-attr').first().waitFor();
    return widget;
  },
  components: async (options) => {
    const widget = await open(IDENTITY, agentId, options);
    await widget.open();
    service.models.next(
      calls('present_card', {
        title: 'Climber 500',
        subtitle: 'Touring bicycle, steel',
        text: 'Long days uphill, with bags.',
        fields: [
          { label: 'Price', value: '1,200 €' },
          { label: 'Delivery', value: '3 to 5 days' },
        ],
        links: [{ label: 'See it', url: 'https://shop.example/climber' }],
      }),
      calls(
        'present_select',
        {
          question: 'Which frame size?',
          options: [
            { label: '52', description: 'Up to 168 cm' },
            { label: '56', description: '168 to 182 cm' },
            { label: '60', description: 'From 182 cm' },
          ],
        },
        'call_2',
      ),
      says('This one fits. One question:'),
    );
    await widget.say('Show me the Climber');
    await widget.page.getByRole('group', { name: 'Which frame size?' }).waitFor();
    await widget.status('ready');
    return widget;
  },
  approval: async (options) => {
    const widget = await open(IDENTITY, careful, options);
    await widget.open();
    service.models.next(calls('mcp__everything__get-sum', { a: 1200, b: 89 }), says('Done.'));
    await widget.say('Add the bags to my order, please');
    await widget.status('awaiting_approval');
    return widget;
  },
  files: async (options) => {
    const widget = await open(`mode="proxy" ${IDENTITY}`, agentId, options);
    await widget.open();
    await widget.page.locator('agent-chat input[type=file]').setInputFiles([
      { name: 'saddle.txt', mimeType: 'text/plain', buffer: Buffer.from('It creaks.') },
      { name: 'invoice-2041.txt', mimeType: 'text/plain', buffer: Buffer.from('Invoice') },
    ]);
    await widget.page.getByText('invoice-2041.txt').first().waitFor();
    await widget.input.fill('The saddle creaks. Is this still under warranty?');
    await until(async () => (await widget.page.getByRole('progressbar').count()) === 0, 'the files are uploaded');
    return widget;
  },
  streaming: async (options) => {
    const widget = await open(IDENTITY, agentId, options);
    await widget.open();
    const held = new HeldReply(['Your order **FW-2041** has left our workshop this morning and'], [' arrives.']);
    service.models.next(held.script);
    await widget.say('Where is my order?');
    await widget.messages.getByText('has left our workshop').waitFor();
    return widget;
  },
  arabic: async (options) => {
    const widget = await open('lang="ar" heading="ميرا" subtitle="خدمة فيرنفيغ"', agentId, options);
    await widget.page.locator('agent-chat .launcher').click();
    await widget.status('ready');
    service.models.next(says(ARABIC));
    await widget.page.locator('agent-chat textarea').fill('أي دراجة تناسبني؟');
    await widget.page.locator('agent-chat textarea').press('Enter');
    await until(async () => (await widget.state()).messages.length === 2, 'the reply is there');
    await widget.status('ready');
    return widget;
  },
};

const WIDTHS = { 375: { width: 375, height: 720 }, 1280: { width: 1280, height: 800 } } as const;

describe.each(Object.entries(WIDTHS))('on a screen of %s pixels', (width, viewport) => {
  describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
    it.each(Object.keys(scenes))('%s: nothing that axe finds, and nothing wider than the screen', async (name) => {
      const widget = await scenes[name]!({ viewport, colorScheme, hasTouch: width === '375' });
      const found = await violations(widget.page);
      await picture(widget.page, `widget-${name}-${width}-${colorScheme}`);
      expect(found).toEqual([]);
      expect(await widget.overflow()).toEqual([0, 0]);
      expect(widget.problems).toEqual([]);
    });
  });
});
