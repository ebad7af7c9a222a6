import { describe, expect, it } from '@jest/globals';
import { HISTORY_CHARACTERS, MAX_HISTORY_MESSAGES, SHARE_AFTER_CUT } from '../../../src/conversations/engine/limits.js';
import { approve, ASKS_ALWAYS } from '../../support/approvals.js';
import { message, useService } from '../../support/harness.js';
import { ManualClock } from '../../support/manual-clock.js';
import { AGENT_WIRES } from '../../support/provider-wire.js';
import { calls, type ModelScript, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';

const service = useService({ clock: new ManualClock(), extensions: scriptedRuns });

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

describe.each(AGENT_WIRES)('a conversation that no longer fits on $provider', ({ provider, model }) => {
  it('loses its oldest messages until it fits; the trace has their number', async () => {
    const { key } = await service.organization();
    const agentId = await service.agent(key, { provider: { type: provider, model } });
    const threadId = await service.thread(key, agentId);
    for (const text of ['first', 'second', 'third', 'fourth']) {
      service.models.next(says(`${text} answer`));
      await service.http('POST', `/v1/threads/${threadId}/runs`, { key, body: message(`${text} question`) });
    }
    service.models.reset();
    service.models.next(tooLong, says('it fits'));

    const answer = await service.http('POST', `/v1/threads/${threadId}/runs`, {
      key,
      body: message('newest question'),
    });

    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ run: { usage: { inputTokens: 11, outputTokens: 7 } } });
    const sent = JSON.stringify(service.models.requests.at(-1)?.body);
    expect(sent).not.toContain('first question');
    expect(sent).not.toContain('second answer');
    for (const text of ['third question', 'third answer', 'fourth answer', 'newest question'])
      expect(sent).toContain(text);
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
  it('is read only as far back as the context holds, in whole exchanges', async () => {
    const { key, id: organizationId } = await service.organization();
    const agentId = await service.agent(key);
    const threadId = await service.thread(key, agentId);
    const size = Math.ceil(HISTORY_CHARACTERS / 500);
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

describe('a thread of very many small messages', () => {
  async function fill(talk: Talk, roles: 'conversation' | 'replies', count: number): Promise<void> {
    await service.database.query(
      `insert into messages (id, organization_id, thread_id, role, content, status, created_at)
       select gen_random_uuid(), $1, $2, case when $4 and n % 2 = 1 then 'user' else 'assistant' end,
              case n % 2 when 1 then 'a' else 'b' end, 'completed', now() from generate_series(1, $3::int) n`,
      [talk.organization.id, talk.threadId, count, roles === 'conversation'],
    );
    await service.database.query('update threads set last_message_at = now() where id = $1', [talk.threadId]);
  }

  interface Sent {
    readonly messages: readonly { readonly role: string }[];
  }

  const sent = (): Sent['messages'] => (service.models.requests.at(-1)?.body as unknown as Sent).messages;

  it('gives the model at most its newest 2,000, from the same message in each run; the trace has the number of omitted ones', async () => {
    const talk = await Talk.start(service);
    await fill(talk, 'replies', 1);
    await fill(talk, 'conversation', 5_000);
    service.models.always(says('reply'));

    await talk.run('newest question');

    const given = sent().length - 1;
    expect(given).toBeLessThanOrEqual(MAX_HISTORY_MESSAGES);
    expect(given).toBeGreaterThanOrEqual(MAX_HISTORY_MESSAGES * SHARE_AFTER_CUT);
    expect(sent()[0]?.role).toBe('user');
    expect((await talk.trace()).steps).toMatchObject([{ input: { omittedMessages: 5_001 - given } }]);

    const statements = await statementsOf(service.database, () => talk.run('another question'));

    expect(statements).toHaveLength(2);
    expect(sent()).toHaveLength(given + 3);
    expect((await talk.trace()).steps).toMatchObject([{ input: { omittedMessages: 5_001 - given } }]);
  });

  it('can be resumed with an exchange of more messages', async () => {
    const talk = await Talk.start(service, ASKS_ALWAYS);
    during(talk.threadId, { tools: [tool('pay', () => output('paid'))] });
    await fill(talk, 'conversation', 2);
    service.models.next(calls('pay', {}), says('Paid.'));
    const asked = await talk.run('Pay');
    await fill(talk, 'replies', MAX_HISTORY_MESSAGES + 300);
    // The message with the request is the newest again.
    const columns = 'id, organization_id, thread_id, run_id, role, content, status, tool_calls, transcript, created_at';
    await service.database.query(
      `with asking as (delete from messages where id = $1 returning *)
       insert into messages (${columns}) select ${columns} from asking`,
      [asked.body.message?.id],
    );

    const resumed = await talk.resume(...asked.body.interrupts.map(approve));

    expect(resumed.body).toMatchObject({ run: { status: 'completed' }, message: { content: 'Paid.' } });
    expect(JSON.stringify(sent()[0])).toContain('Pay');
    expect((await talk.trace()).steps.at(-1)).toMatchObject({ input: { omittedMessages: 2 } });
  });
});
