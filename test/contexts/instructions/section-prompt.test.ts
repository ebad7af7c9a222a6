import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { message, useService } from '../../support/harness.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { says } from '../../support/scripted-models.js';
import { about, Sections } from './support.js';

const service = useService();

beforeEach(() => {
  service.models.always(says('Hello'));
});

/** Runs the agent once, on a new thread. */
async function answer({ key, agentId }: Sections): Promise<void> {
  const thread = await service.thread(key, agentId);
  const { status, text } = await service.http('POST', `/v1/threads/${thread}/runs`, { key, body: message('Hi') });
  if (status !== 200) throw new Error(`run: ${status} ${text}`);
}

/** Every text in the last request to the model, except the user's. */
function systemPrompt(): unknown {
  const body = service.models.requests.at(-1)?.body ?? {};
  const { system, instructions, systemInstruction } = body;
  return textOf(system ?? instructions ?? systemInstruction);
}

function textOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textOf).join('');
  if (typeof value !== 'object' || value === null) return value;
  const { parts, text } = value as { parts?: unknown; text?: unknown };
  return textOf(parts ?? text);
}

describe.each(AGENT_WIRES)('the prompt that the model of $provider receives', ({ provider, model }) => {
  const settings = { systemPrompt: 'Be kind.', provider: { type: provider, model } };

  it("is the agent's own, then each section under its name in order", async () => {
    const agent = await Sections.start(service, settings);
    await agent.filled('tone', 'limits');
    await answer(agent);
    expect(systemPrompt()).toBe('Be kind.\n\n## tone\n\nAbout tone.\n\n## limits\n\nAbout limits.');
  });

  it('consists of the sections when the agent has no prompt', async () => {
    const agent = await Sections.start(service, { ...settings, systemPrompt: '' });
    await agent.filled('tone');
    await answer(agent);
    expect(systemPrompt()).toBe('## tone\n\nAbout tone.');
  });
});

describe('the sections in the prompt', () => {
  it('are those of the last write, at once', async () => {
    const agent = await Sections.start(service);
    const [tone] = await agent.filled('tone', 'limits');
    await answer(agent);
    await agent.put(['limits', 'tone'].map(about));
    await answer(agent);
    expect(systemPrompt()).toBe('## limits\n\nAbout limits.\n\n## tone\n\nAbout tone.');
    await agent.patch(tone?.id ?? '', { content: 'Be brief.' });
    await answer(agent);
    expect(systemPrompt()).toBe('## limits\n\nAbout limits.\n\n## tone\n\nBe brief.');
    await agent.post(about('goals'));
    await agent.delete(tone?.id ?? '');
    await answer(agent);
    expect(systemPrompt()).toBe('## limits\n\nAbout limits.\n\n## goals\n\nAbout goals.');
  });

  it('are only those of the agent', async () => {
    const agent = await Sections.start(service);
    const other = await Sections.start(service);
    await other.filled('theirs');
    await agent.filled('tone');
    await answer(agent);
    expect(systemPrompt()).toBe('## tone\n\nAbout tone.');
  });

  it('cost one statement, and none while they are cached', async () => {
    const agent = await Sections.start(service);
    await agent.filled('tone');
    const queries = jest.spyOn(service.database, 'query');
    await answer(agent);
    await answer(agent);
    const reads = queries.mock.calls.filter(([sql]) => sql.includes('from sections'));
    queries.mockRestore();
    expect(systemPrompt()).toBe('## tone\n\nAbout tone.');
    expect(reads).toHaveLength(1);
  });

  it('that are too long for the cache are read for each turn, with one statement', async () => {
    const agent = await Sections.start(service);
    const long = Array.from({ length: 6 }, (_, n) => ({ name: `section ${n}`, content: 'x'.repeat(100_000) }));
    await agent.put(long);
    const queries = jest.spyOn(service.database, 'query');
    await answer(agent);
    await answer(agent);
    const reads = queries.mock.calls.filter(([sql]) => sql.includes('from sections'));
    queries.mockRestore();
    expect(reads).toHaveLength(2);
  });
});
