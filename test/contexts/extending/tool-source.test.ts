import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { orderStatusContext } from '../../extending/src/order-status/index.js';
import { filesOfExample, filesShown } from '../../support/example-page.js';
import { FakeUpstream } from '../../support/fake-upstream.js';
import { startService, type TestService } from '../../support/harness.js';
import { calls, says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

let shop: FakeUpstream;
let service: TestService;
let talk: Talk;

beforeAll(async () => {
  shop = await FakeUpstream.start();
  const environment = { EGRESS_ALLOW: new URL(shop.url).host };
  service = await startService({ contexts: [orderStatusContext(shop.url)], environment });
});

beforeEach(async () => {
  service.models.reset();
  shop.requests.length = 0;
  talk = await Talk.start(service);
});

afterAll(async () => {
  await service.close();
  await shop.close();
});

const asOf = (customerId: string): Readonly<Record<string, unknown>> => ({ config: { userContext: { customerId } } });

async function resultOfCall(number: unknown): Promise<unknown> {
  service.models.next(calls('order_status', { number }), says('Done.'));
  await talk.run('Where is my order?', asOf('c-1'));
  return (await talk.messages()).at(-1)?.toolCalls?.[0];
}

describe('a tool source that is added as docs/extending/tool-source.md describes', () => {
  it('answers for the user in the userContext', async () => {
    shop.respond((exchange) => exchange.refuse(200, { state: 'on its way' }));
    expect(await resultOfCall(17)).toMatchObject({ status: 'completed', output: '{"state":"on its way"}' });
    expect(shop.requests.map(({ path }) => path)).toEqual(['/customers/c-1/orders/17']);
  });

  it('offers nothing without a user in the userContext', async () => {
    service.models.next(says('Who are you?'));
    await talk.run('Where is my order?');
    expect(service.models.requests.at(-1)?.body).not.toHaveProperty('tools');
  });

  it('tells the model what went wrong, and the run goes on', async () => {
    shop.respond((exchange) => exchange.refuse(404, {}));
    expect(await resultOfCall(1)).toMatchObject({ status: 'failed', output: 'There is no order 1.' });
    shop.respond((exchange) => exchange.reset());
    expect(await resultOfCall(2)).toMatchObject({ status: 'failed', output: 'The shop cannot be reached. Try later.' });
    expect(await resultOfCall('2/../3')).toMatchObject({
      status: 'failed',
      output: 'The number of an order is a whole number.',
    });
  });

  it('waits for approval where the agent wants it for every call', async () => {
    const careful = await Talk.start(service, { tools: { requireApprovalBeforeToolCalls: true } });
    service.models.next(calls('order_status', { number: 17 }));
    const { body } = await careful.run('Where is my order?', asOf('c-1'));
    expect(body).toMatchObject({
      run: { status: 'requires_action' },
      interrupts: [{ metadata: { tool: 'order_status' } }],
    });
    expect(shop.requests).toEqual([]);
  });
});

describe('docs/extending/tool-source.md', () => {
  it('shows the files of the example as they are', async () => {
    expect(filesShown('extending/tool-source.md', 'order-status')).toEqual(await filesOfExample('order-status'));
  });
});
