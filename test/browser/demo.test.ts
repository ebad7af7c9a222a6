import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/harness.js';
import { ServiceProcess } from '../support/service-process.js';
import { picture, useBrowser } from './chromium.js';
import { WidgetPage } from './widget-page.js';

const browser = useBrowser();
const folder = mkdtempSync(join(tmpdir(), 'demo-'));
let demo: ServiceProcess;

beforeAll(async () => {
  demo = await ServiceProcess.start({ role: 'demo', environment: { DATA_DIR: folder } });
});
afterAll(async () => {
  await demo.kill();
  rmSync(folder, { recursive: true, force: true });
});

describe('the page of npm run demo', () => {
  it('opens with an agent that has tools and components, and contains no key', async () => {
    const widget = await WidgetPage.visit(
      await browser.visitor({ viewport: { width: 1200, height: 760 } }),
      `${demo.url}/demo`,
    );
    await widget.status('ready');
    const say = async (name: string): Promise<void> => {
      await widget.page.getByRole('button', { name, exact: true }).click();
      await widget.status('responding');
    };
    await say('A card');
    await widget.page.getByText('Climber 500').first().waitFor();
    await widget.status('ready');
    await say('Choices');
    await widget.page.getByRole('button', { name: 'In the city' }).waitFor();
    await widget.status('ready');
    await picture(widget.page, 'demo');
    await say('A tool that asks first');
    await widget.status('awaiting_approval');
    await widget.page.getByRole('button', { name: 'Approve' }).click();
    await widget.page.getByText('Used toggle simulated logging').waitFor();
    await widget.status('ready');
    await widget.page.getByRole('button', { name: 'Bad reply' }).last().click();
    await widget.page.getByRole('textbox', { name: 'What could be better?' }).fill('It asked twice.');
    await widget.page
      .getByRole('group', { name: 'What could be better?' })
      .getByRole('button', { name: 'Send' })
      .click();
    await widget.page.getByText('Thank you for your feedback.').first().waitFor();
    await widget.page.getByRole('button', { name: 'More options' }).click();
    await widget.page.getByRole('menuitem', { name: 'New conversation' }).click();
    await widget.page.getByRole('button', { name: 'Start new' }).click();
    await until(async () => (await widget.state()).messages.length === 0, 'the messages are gone');
    await widget.status('ready');
    const text = await widget.page.content();
    expect(text).not.toContain('ak_');
    expect(widget.requests.every((request) => request.includes(demo.url))).toBe(true);
    expect(widget.problems).toEqual([]);
  });

  it('recognizes its visitor, and gives no visitor the conversation of another', async () => {
    const widget = await WidgetPage.visit(await browser.visitor(), `${demo.url}/demo`);
    await widget.status('ready');
    const { threadId } = JSON.parse(
      await widget.page.evaluate(() =>
        (globalThis as unknown as { sessionStorage: { getItem(key: string): string } }).sessionStorage.getItem(
          'agent-chat:session:default',
        ),
      ),
    ) as { threadId: string };
    const ask = (body: object) =>
      fetch(`${demo.url}/demo/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const stranger = (await (await ask({ threadId })).json()) as { threadId: string };
    expect(stranger.threadId).not.toBe(threadId);
    const reaction = { sessionId: threadId, threadId, messageId: threadId, reaction: 'thumbs_up' };
    const refused = await fetch(`${demo.url}/demo/reaction`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(reaction),
    });
    expect(refused.status).toBe(404);
  });

  it('works again after its agent and then its key were deleted', async () => {
    const ask = (method: string, path: string) =>
      fetch(`${demo.url}${path}`, { method, headers: { authorization: `Bearer ${demo.firstKey ?? ''}` } });
    const visit = (cookie: string, threadId?: string) =>
      fetch(`${demo.url}/demo/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify({ threadId }),
      });
    const first = await visit('');
    const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { threadId } = (await first.json()) as { threadId: string };
    const { assistants } = (await (await ask('GET', '/v1/assistants')).json()) as {
      assistants: { id: string; name: string }[];
    };
    for (const { id } of assistants) expect((await ask('DELETE', `/v1/agents/${id}`)).status).toBe(200);
    const together = await Promise.all([visit(cookie, threadId), visit(cookie, threadId), visit('')]);
    expect(together.map(({ status }) => status)).toEqual([200, 200, 200]);
    const keys = async () =>
      ((await (await ask('GET', '/v1/api-keys')).json()) as { apiKeys: { id: string; name: string }[] }).apiKeys.filter(
        ({ name }) => name === 'Demo page',
      );
    const [key, ...more] = await keys();
    expect(more).toEqual([]);
    expect((await ask('DELETE', `/v1/api-keys/${key?.id ?? ''}`)).ok).toBe(true);
    expect((await visit('')).status).toBe(200);
  });
});
