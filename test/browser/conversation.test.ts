import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { type TestOrganization, until, useService } from '../support/harness.js';
import { HeldReply, says } from '../support/scripted-models.js';
import { ShiftedClock } from '../support/shifted-clock.js';
import { picture, useBrowser } from './chromium.js';
import { CustomerSite } from './customer-site.js';
import { WidgetPage } from './widget-page.js';

const clock = new ShiftedClock();
const service = useService({ clock });
const browser = useBrowser();
let organization: TestOrganization;
let agentId: string;
let site: CustomerSite;

beforeAll(async () => {
  organization = await service.organization();
  agentId = await service.agent(organization.key);
  site = await CustomerSite.start(service, { key: organization.key, agentId });
});
afterAll(() => site.close());

const visit = async (on: CustomerSite = site): Promise<WidgetPage> =>
  WidgetPage.visit(await browser.visitor(), on.origin);

describe('a visitor', () => {
  it('opens the chat, sends a first message and reads the reply; no request is sent before', async () => {
    const widget = await visit();
    expect(widget.requests.filter((request) => !request.endsWith('/widget.js'))).toEqual([`GET ${site.origin}/`]);
    await widget.open();
    await picture(widget.page, 'greeting');
    service.models.next(says('Nice to ', 'meet you.'));
    await widget.say('Hello');
    await widget.page.getByText('Nice to meet you.').first().waitFor();
    await widget.status('ready');
    await picture(widget.page, 'first-message');
    // Only two origins: those of the page and of the service.
    expect(new Set(widget.requests.map((request) => new URL(request.split(' ')[1]!).origin))).toEqual(
      new Set([site.origin, service.baseUrl]),
    );
    expect(widget.problems).toEqual([]);
  });

  it('sees the reply arrive word by word, and can write the next message meanwhile', async () => {
    const widget = await visit();
    await widget.open();
    const reply = new HeldReply(['It begins'], [' and ends.']);
    service.models.next(reply.script);
    await widget.say('Tell me');
    await widget.messages.getByText('It begins', { exact: true }).waitFor();
    await picture(widget.page, 'streaming');
    await widget.input.fill('Next');
    await widget.input.press('Enter');
    expect(await widget.input.inputValue()).toBe('Next');
    reply.finish();
    await widget.messages.getByText('It begins and ends.').waitFor();
    expect(widget.problems).toEqual([]);
  });

  it('continues after a reload in the middle of a reply', async () => {
    const widget = await visit();
    await widget.open();
    const reply = new HeldReply(['Before'], [' and after.']);
    service.models.next(reply.script);
    await widget.say('A long story, please');
    await widget.messages.getByText('Before').waitFor();
    const minted = site.asked.length;
    await widget.page.reload();
    await widget.messages.getByText('Before').waitFor();
    reply.finish();
    await widget.messages.getByText('Before and after.').waitFor();
    expect((await widget.state()).messages.map(({ text }) => text)).toEqual([
      'A long story, please',
      'Before and after.',
    ]);
    // The pass was still valid, so no new one was requested.
    expect(site.asked).toHaveLength(minted);
    expect(widget.problems).toEqual([]);
  });

  it('keeps a message that was sent just when the chat became busy', async () => {
    const widget = await visit();
    await widget.open();
    service.models.next(says('Answered.'));
    const left = await widget.input.evaluate((element) => {
      const input = element as unknown as {
        value: string;
        getRootNode(): { host: { chat: { send(text: string): Promise<void> } } };
      };
      void input.getRootNode().host.chat.send('First');
      // The page has not rendered in between.
      input.value = 'Second';
      element.dispatchEvent(
        new (globalThis as unknown as { KeyboardEvent: new (type: string, init: object) => Event }).KeyboardEvent(
          'keydown',
          { key: 'Enter' },
        ),
      );
      return input.value;
    });
    expect(left).toBe('Second');
    await widget.messages.getByText('Answered.').waitFor();
    expect((await widget.state()).messages.map(({ text }) => text)).toEqual(['First', 'Answered.']);
  });

  it('begins a new conversation', async () => {
    const widget = await visit();
    await widget.open();
    service.models.next(says('One'));
    await widget.say('Hello');
    await widget.messages.getByText('One').waitFor();
    await widget.page.getByRole('button', { name: 'More options' }).click();
    await widget.page.getByRole('menuitem', { name: 'New conversation' }).click();
    await widget.page.getByRole('button', { name: 'Start new' }).click();
    await until(async () => (await widget.state()).messages.length === 0, 'the messages are gone');
    await widget.status('ready');
    expect(site.asked.at(-1)).toEqual({ newConversation: true });
  });
});

describe('a pass', () => {
  it('that expires in the middle of a conversation is renewed once, and the message is sent once', async () => {
    const widget = await visit();
    await widget.open();
    const before = site.asked.length;
    clock.moveOn(901_000);
    service.models.next(says('Still here.'));
    await widget.say('Are you there?');
    await widget.messages.getByText('Still here.').waitFor();
    expect(site.asked.slice(before)).toEqual([{ resumeToken: expect.stringMatching(/^rt_/) }]);
    expect((await widget.state()).messages.map(({ text }) => text)).toEqual(['Are you there?', 'Still here.']);
    expect(widget.problems).toEqual([]);
  });

  it('is renewed before it expires, by the lifetime that the endpoint returns', async () => {
    const own = await CustomerSite.start(service, { key: organization.key, agentId, passSeconds: 1 });
    try {
      const widget = await visit(own);
      await widget.open();
      await until(
        async () => {
          service.models.next(says('Yes'));
          await widget.say('Hello');
          await widget.status('ready');
          return own.asked.some(({ resumeToken }) => resumeToken !== undefined);
        },
        'a renewal',
        { everyMs: 200 },
      );
    } finally {
      await own.close();
    }
  });
});

describe('a session that is over', () => {
  it('is reported to the page and to the visitor, who begins a new one', async () => {
    const widget = await visit();
    await widget.page.locator('agent-chat').evaluate((element) => {
      element.addEventListener('sessionFailed', (event: unknown) =>
        Reflect.set(element, 'failed', (event as { detail: object }).detail),
      );
    });
    await widget.open();
    clock.moveOn(901_000);
    site.isClosed = true;
    await widget.say('Hello?');
    await widget.status('failed');
    await picture(widget.page, 'failed');
    site.isClosed = false;
    expect(
      await widget.page.locator('agent-chat').evaluate((element) => Reflect.get(element, 'failed') as object),
    ).toMatchObject({
      code: 'credentials',
      terminal: true,
    });
    await widget.page.getByRole('button', { name: 'New conversation' }).last().click();
    await widget.page.getByRole('button', { name: 'Start new' }).click();
    await widget.status('ready');
    service.models.next(says('Welcome back.'));
    await widget.say('Hello');
    await widget.messages.getByText('Welcome back.').waitFor();
    expect(widget.problems).toEqual([]);
  });
});

describe('a connection that is lost', () => {
  it('in the middle of a reply is resumed without a gap or a repetition', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const proxy = await CuttableProxy.start({ host: hostname, port: Number(port) });
    const apiOrigin = `http://127.0.0.1:${proxy.port}`;
    const own = await CustomerSite.start(service, { key: organization.key, agentId, apiOrigin });
    try {
      const widget = await visit(own);
      await widget.open();
      const reply = new HeldReply(['One, ', 'two, '], ['three, ', 'four.']);
      service.models.next(reply.script);
      await widget.say('Count');
      await widget.messages.getByText('One, two,').waitFor();
      proxy.cut();
      await widget.status('reconnecting');
      await picture(widget.page, 'reconnecting');
      reply.finish();
      proxy.restore();
      await widget.messages.getByText('One, two, three, four.', { exact: true }).waitFor();
      await widget.status('ready');
      expect(service.models.requests).toHaveLength(1);
    } finally {
      await own.close();
      await proxy.close();
    }
  });

  it('before the message was accepted keeps the message, which is sent again once', async () => {
    const { hostname, port } = new URL(service.baseUrl);
    const proxy = await CuttableProxy.start({ host: hostname, port: Number(port) });
    const own = await CustomerSite.start(service, {
      key: organization.key,
      agentId,
      apiOrigin: `http://127.0.0.1:${proxy.port}`,
    });
    try {
      const widget = await visit(own);
      await widget.open();
      proxy.cut();
      await widget.say('Hello?');
      await widget.log.getByText('Not sent.').waitFor();
      await picture(widget.page, 'unsent');
      proxy.restore();
      service.models.next(says('Here I am.'));
      await widget.page.getByRole('button', { name: 'Try again' }).click();
      await widget.messages.getByText('Here I am.').waitFor();
      expect((await widget.state()).messages.map(({ text }) => text)).toEqual(['Hello?', 'Here I am.']);
    } finally {
      await own.close();
      await proxy.close();
    }
  });
});
