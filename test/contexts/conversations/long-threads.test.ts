import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HISTORY_CHARACTERS } from '../../../src/conversations/engine/tunables.js';
import { message, startService, type TestService } from '../../support/harness.js';
import { PROVIDER_WIRES } from '../../support/provider-wire.js';
import { type ModelScript, says } from '../../support/scripted-models.js';

let service: TestService;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.models.reset();
});

const tooLong: ModelScript = (exchange, wire) => {
  exchange.refuse(wire.contextTooLong.status, wire.contextTooLong.body);
};

interface TraceList {
  traces: { id: string }[];
}

interface Trace {
  steps: { type: string; error: string | null; input: { omittedMessages: number } }[];
}

async function lastTrace(key: string, agentId: string): Promise<Trace> {
  const { body } = await service.http<TraceList>('GET', `/v1/agents/${agentId}/traces?limit=1`, { key });
  return (await service.http<Trace>('GET', `/v1/agents/${agentId}/traces/${body.traces[0]?.id ?? ''}`, { key })).body;
}

describe.each(PROVIDER_WIRES)('a conversation that no longer fits on $provider', ({ provider, model }) => {
  it('loses its oldest part until it fits; the trace says how many messages', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    for (const text of ['first', 'second', 'third', 'fourth']) {
      service.models.next(says(`${text} answer`));
      await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message(`${text} question`) });
    }
    service.models.reset();
    service.models.next(tooLong, says('it fits'));

    const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('newest question') });

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ run: { usage: { inputTokens: 11, outputTokens: 7 } } });
    const sent = JSON.stringify(service.models.requests.at(-1)?.body);
    expect(sent).not.toContain('first question');
    expect(sent).not.toContain('second answer');
    for (const text of ['third question', 'third answer', 'fourth answer', 'newest question']) expect(sent).toContain(text);
    const { steps } = await lastTrace(key, agentId);
    expect(steps.map(({ input }) => input.omittedMessages)).toEqual([0, 4]);
  });

  it('is refused only when the newest message alone does not fit', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    service.models.next(says('an answer'));
    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('a question') });
    service.models.reset();
    service.models.always(tooLong);

    const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('far too long') });

    expect([answer.status, Object.keys(answer.body).sort()]).toEqual([422, ['error', 'message']]);
    expect(service.models.requests).toHaveLength(2);
    expect(JSON.stringify(service.models.requests.at(-1)?.body)).not.toContain('a question');
  });
});

describe('a very long thread', () => {
  it('is read only as far back as the model can take, whole exchanges, the newest', async () => {
    const { key, id: organizationId } = await service.organization();
    const agentId = await service.agent(key);
    const threadId = await service.thread(key, agentId);
    const size = Math.ceil(HISTORY_CHARACTERS.claude / 500);
    await service.database.query(
      `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
       select gen_random_uuid(), $1, $2, case when n % 2 = 1 then 'user' else 'assistant' end,
              'message ' || n || ' ' || repeat('x', $3::int), 'completed', now() from generate_series(1, 2000) n`,
      [organizationId, threadId, size],
    );
    await service.database.query('update threads set last_message_at = now() where id = $1', [threadId]);
    service.models.next(says('reply'));

    await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message('newest question') });

    const messages = service.models.requests.at(-1)?.body['messages'] as { role: string; content: unknown }[];
    expect(messages[0]?.role).toBe('user');
    expect(JSON.stringify(messages.at(-2))).toContain('message 2000 ');
    const { steps } = await lastTrace(key, agentId);
    expect(steps[0]?.input.omittedMessages).toBe(2000 - (messages.length - 1));
    expect(messages.length).toBeGreaterThan(450);
    expect(messages.length).toBeLessThan(502);
  });
});
