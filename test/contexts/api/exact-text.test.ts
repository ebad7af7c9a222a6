import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startService, type TestService } from '../../support/harness.js';
import { codePoints, ODD_TEXTS } from '../../support/odd-texts.js';
import { says } from '../../support/scripted-models.js';
import { Talk } from '../../support/talk.js';

let service: TestService;
let talk: Talk;

beforeAll(async () => {
  service = await startService();
  talk = await Talk.start(service);
});
afterAll(() => service.close());

function send<Body>(method: string, path: string, body?: object) {
  return service.http<Body>(method, path, { key: talk.key, ...(body ? { body } : {}) });
}

describe('text of a client is returned unchanged', () => {
  it.each(ODD_TEXTS)('in messages and replies: %s', async (_name, text) => {
    const asked = `${text}?`;
    service.models.next(says(text));
    const thread = await talk.another();
    expect(codePoints((await thread.run(asked)).body.message?.content)).toBe(codePoints(text));
    const contents = (await thread.messages()).map(({ content }) => codePoints(content));
    expect(contents).toEqual([codePoints(asked), codePoints(text)]);
  });

  it.each(ODD_TEXTS)('in the metadata of a thread: %s', async (_name, text) => {
    const made = await send<{ id: string }>('POST', '/v1/threads', {
      assistant_id: talk.agentId,
      metadata: { note: text },
    });
    expect(made.status).toBe(200);
    const read = await send<{ metadata: Record<string, string> }>('GET', `/v1/threads/${made.body.id}`);
    expect(codePoints(read.body.metadata['note'])).toBe(codePoints(text));
  });

  it.each(ODD_TEXTS)('in the content of a section and in a prompt: %s', async (_name, text) => {
    const content = `${text}.`;
    const agentId = await service.agent(talk.key, { systemPrompt: content });
    const agent = await send<{ systemPrompt: string }>('GET', `/v1/agents/${agentId}`);
    expect(codePoints(agent.body.systemPrompt)).toBe(codePoints(content));
    const made = await send('POST', `/v1/agents/${agentId}/sections`, { name: 'Tone', content });
    expect(made.status).toBeLessThan(300);
    const { sections } = (await send<{ sections: { content: string }[] }>('GET', `/v1/agents/${agentId}/sections`))
      .body;
    expect(sections.map((section) => codePoints(section.content))).toEqual([codePoints(content)]);
  });

  it.each(ODD_TEXTS)('in the names of agents and API keys: %s', async (_name, text) => {
    const name = `${text}n`;
    const agentId = await service.agent(talk.key, { name });
    const agent = await send<{ name: string }>('GET', `/v1/agents/${agentId}`);
    expect(codePoints(agent.body.name)).toBe(codePoints(name));
    const made = await send<{ id: string }>('POST', '/v1/api-keys', { name, capabilities: ['chat'] });
    expect(made.status).toBe(201);
    const { apiKeys } = (await send<{ apiKeys: { id: string; name: string }[] }>('GET', '/v1/api-keys')).body;
    expect(codePoints(apiKeys.find(({ id }) => id === made.body.id)?.name)).toBe(codePoints(name));
  });

  it.each(ODD_TEXTS)(
    'in the arguments of a session-start hook, and in the matcher of a hook: %s',
    async (_name, text) => {
      const agent = `/v1/agents/${talk.agentId}`;
      const hook = { app: `${text}a`, toolName: `${text}t`, staticArgs: { note: text } };
      const address = { url: 'http://127.0.0.1:9/mcp', transportType: 'streamableHttp', auth: { type: 'none' } };
      expect(
        (await send('POST', `${agent}/tool-integrations`, { type: 'custom-mcp', app: hook.app, ...address })).status,
      ).toBe(201);
      await send('PUT', `${agent}/session-start-hook`, hook);
      const read = await send<typeof hook>('GET', `${agent}/session-start-hook`);
      const texts = [read.body.app, read.body.toolName, read.body.staticArgs.note];
      expect(texts.map(codePoints)).toEqual([hook.app, hook.toolName, text].map(codePoints));
      // In quotation marks, it is an expression for the text.
      const matcher = `\\Q${text}\\E`;
      const handler = { type: 'http', url: 'https://hooks.example/' };
      expect((await send('PUT', `${agent}/hooks`, { hooks: { Stop: [{ matcher, hooks: [handler] }] } })).status).toBe(
        200,
      );
      const { hooks } = (await send<{ hooks: { Stop: { matcher: string }[] } }>('GET', `${agent}/hooks`)).body;
      expect(codePoints(hooks.Stop[0]?.matcher)).toBe(codePoints(matcher));
    },
  );
});
