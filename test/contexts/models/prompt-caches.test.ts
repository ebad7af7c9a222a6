import { afterAll, describe, expect, it } from '@jest/globals';
import { HISTORY_CHARACTERS, SHARE_AFTER_CUT } from '../../../src/conversations/engine/limits.js';
import { type CacheablePrompt, cacheablePrompt, commonPrefix, wholeOf } from '../../support/cacheable.js';
import { useService } from '../../support/harness.js';
import { anthropicWire, geminiWire, openaiWire } from '../../support/provider-wire.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { sentToolNames } from '../../support/sent-tools.js';
import { Talk } from '../../support/talk.js';
import { addIntegration, customServer } from '../../support/tool-integrations.js';
import { type ServedTool, ToolServer } from '../../support/tool-server.js';

/** Of what two requests could share. */
const LEAST_SHARE = 0.95;
const TOOLS: readonly ServedTool[] = ['weather', 'tickets', 'calendar'].map((name) => ({ name }));

const tools = await ToolServer.start('streamableHttp', ...TOOLS);
afterAll(() => tools.close());

const service = useService({ environment: { EGRESS_ALLOW: tools.host }, extensions: scriptedRuns });

const as = (userId: string): Readonly<Record<string, unknown>> => ({
  config: { userContext: { userId, plan: `plan of ${userId}` } },
});

/** An agent with a prompt, sections, tools and memories of two users. */
async function startTalk(provider: object): Promise<Talk> {
  const talk = await Talk.start(service, { provider, systemPrompt: `You are kind. ${'Be exact. '.repeat(100)}` });
  for (const name of ['Tone', 'Prices']) {
    const body = { name, content: `${name}: ${'as the handbook says. '.repeat(50)}` };
    const { status } = await service.http('POST', `/v1/agents/${talk.agentId}/sections`, { key: talk.key, body });
    expect(status).toBe(201);
  }
  await addIntegration(service, talk, customServer('desk', tools));
  for (const user of ['ann', 'bob']) await remember(await talk.another(), user, `${user} lives in a town of ${user}.`);
  service.models.reset();
  service.models.always(says('An answer.'));
  return talk;
}

async function remember(talk: Talk, user: string, text: string): Promise<void> {
  service.models.next(calls('memory_save', { text }), says('Noted.'));
  expect((await talk.run('Remember this', as(user))).body.message?.toolCalls).toMatchObject([{ status: 'completed' }]);
}

describe.each([anthropicWire, openaiWire, geminiWire])('requests to $provider', ({ provider, model }) => {
  const agent = { type: provider, model };
  const sent = (): CacheablePrompt[] => service.models.requests.map(({ body }) => cacheablePrompt(provider, body));
  const last = (): CacheablePrompt => sent().at(-1) ?? { tools: '', system: '', messages: '' };

  it('of one conversation begin with the whole request before, tools and memories included', async () => {
    const talk = await startTalk(agent);
    await talk.run('What is the weather?', as('ann'));
    const first = last();
    await talk.run('And tomorrow?', as('ann'));

    expect(first.system).toContain('ann lives in');
    expect(first.tools).toContain('mcp__desk__weather');
    expect(commonPrefix(first, last())).toBeGreaterThan(LEAST_SHARE * wholeOf(first).length);
  });

  it('of one run that calls tools begin with the whole request before', async () => {
    const talk = await startTalk(agent);
    service.models.next(calls('mcp__desk__weather', { city: 'Oslo' }), calls('mcp__desk__tickets'), says('Rain.'));
    await talk.run('What is the weather?', as('ann'));

    const [first, second, third] = sent();
    if (!first || !second || !third) throw new Error('The run made fewer calls than expected');
    expect(commonPrefix(first, second)).toBeGreaterThan(LEAST_SHARE * wholeOf(first).length);
    expect(commonPrefix(second, third)).toBeGreaterThan(LEAST_SHARE * wholeOf(second).length);
  });

  it('of two users begin with the same tools, prompt and sections', async () => {
    const talk = await startTalk(agent);
    during(talk.threadId, { prompt: ['A context of one conversation.'] });
    await talk.run('What is the weather?', as('ann'));
    const first = last();
    await (await talk.another()).run('How are you?', as('bob'));
    const second = last();

    const own = Math.min(...['A context of one', '## What you remember'].map((text) => first.system.indexOf(text)));
    expect(own).toBeGreaterThan(first.system.indexOf('Prices: '));
    expect(second.system).toContain('bob lives in');
    expect(first.tools).toBe(second.tools);
    expect(commonPrefix(first, second)).toBeGreaterThan(LEAST_SHARE * (first.tools.length + own));
  });
});

it('a request has the tools of a server in one order, in whichever order the server lists them', async () => {
  const names = ['mcp__desk__calendar', 'mcp__desk__tickets', 'mcp__desk__weather'];
  const talk = await Talk.start(service);
  const { id } = await addIntegration(service, talk, customServer('desk', tools));
  service.models.always(says('An answer.'));
  for (const listed of [TOOLS, TOOLS.toReversed()]) {
    tools.become(listed, { announced: false });
    await service.http('POST', `/v1/agents/${talk.agentId}/tool-integrations/${id}/test`, { key: talk.key });
    await talk.run('Hi');

    expect(sentToolNames(service.models.requests.at(-1)?.body ?? {}).slice(0, 3)).toEqual(names);
  }
});

it('found tools come after all others, and leave those where they were', async () => {
  const talk = await Talk.start(service);
  const many = Array.from({ length: 60 }, (_, nth) => ({
    ...tool(`find_me_${nth}`, () => output('')),
    searchable: true,
  }));
  during(talk.threadId, { tools: [tool('plain', () => output('')), ...many] });
  service.models.next(calls('find_tools', { query: 'find me 7' }), calls('find_me_7'), says('Found.'));
  await talk.run('Find it');

  const [before = [], ...after] = service.models.requests.map(({ body }) => sentToolNames(body));
  for (const names of after) {
    expect(names.slice(0, before.length)).toEqual(before);
    expect(names.length).toBeGreaterThan(before.length);
  }
});

it('a history that is cut begins with the same message for many runs', async () => {
  const talk = await Talk.start(service);
  const messages = 60;
  // Their sum is a little more than a model gets.
  const size = Math.ceil((HISTORY_CHARACTERS / messages) * 1.05);
  await service.database.query(
    `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
     select gen_random_uuid(), $1, $2, case when n % 2 = 1 then 'user' else 'assistant' end,
            'message ' || n || ' ' || repeat('x', $3::int), 'completed', now() from generate_series(1, $4::int) n`,
    [talk.organization.id, talk.threadId, size, messages],
  );
  await service.database.query('update threads set last_message_at = now() where id = $1', [talk.threadId]);
  service.models.always(says('y'.repeat(size)));

  const begins: string[] = [];
  const kept: number[] = [];
  for (let run = 0; run < 12; run += 1) {
    await talk.run('x'.repeat(size));
    const { messages: sent } = service.models.requests.at(-1)?.body as { messages: { content: string }[] };
    begins.push(String(sent[0]?.content).slice(0, 12));
    kept.push(sent.length - 1);
  }

  expect(new Set(begins).size).toBeLessThanOrEqual(4);
  // An exchange less than the share may remain, since exchanges are kept whole.
  for (const count of kept) expect((count + 2) * size).toBeGreaterThanOrEqual(HISTORY_CHARACTERS * SHARE_AFTER_CUT);
});
