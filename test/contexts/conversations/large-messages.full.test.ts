import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LISTED_BYTES } from '../../../src/conversations/application/show-messages.js';
import { HISTORY_PAGE_BYTES, MAX_TOOL_OUTPUT, SHARE_AFTER_CUT } from '../../../src/conversations/engine/limits.js';
import { defaultModel } from '../../../src/models/index.js';
import { Database } from '../../../src/platform/database/index.js';
import { startService, type TestService } from '../../support/harness.js';
import { calls, says } from '../../support/scripted-models.js';
import { during, output, scriptedRuns, tool } from '../../support/scripted-runs.js';
import { type MessageView, Talk } from '../../support/talk.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({ extensions: scriptedRuns });
});
afterAll(() => service.close());
beforeEach(() => {
  service.models.reset();
  service.models.always(says('ok'));
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface Sizes {
  readonly messages: number;
  readonly content: number;
  readonly toolOutput?: number;
  readonly transcript?: number;
}

/** Numbered messages of these sizes, in characters of one byte. */
async function fill(talk: Talk, { messages, content, toolOutput = 0, transcript = 0 }: Sizes): Promise<void> {
  await service.database.query(
    `insert into messages (id, organization_id, thread_id, role, content, status, created_at, tool_calls, transcript)
     select gen_random_uuid(), $1, $2, case when n % 2 = 1 then 'user' else 'assistant' end,
            rpad(n || ' ', $4::int, 'x'), 'completed', now(),
            case when $5::int = 0 then '[]' else jsonb_build_array(jsonb_build_object('id', 'c', 'name', 't', 'input', '{}'::jsonb,
              'output', repeat('y', $5::int), 'status', 'completed')) end,
            case when $6::int = 0 then '[]' else jsonb_build_array(jsonb_build_object('role', 'assistant', 'text',
              repeat('z', $6::int), 'toolCalls', '[]'::jsonb)) end
     from generate_series(1, $3::int) n`,
    [talk.organization.id, talk.threadId, messages, content, toolOutput, transcript],
  );
  await service.database.query('update threads set last_message_at = now() where id = $1', [talk.threadId]);
}

interface Listed {
  readonly messages: readonly MessageView[];
  readonly truncated: boolean;
}

async function listed(talk: Talk): Promise<Listed & { readonly numbers: number[] }> {
  const { body } = await service.http<Listed>('GET', `${talk.path}/messages`, { key: talk.key });
  return { ...body, numbers: body.messages.map(({ content }) => Number.parseInt(content, 10)) };
}

/** The size of the largest result from the database since the call, in bytes. */
function largestAnswer(): () => number {
  let largest = 0;
  const database = service.app.get(Database, { strict: false });
  const query = database.query.bind(database);
  jest.spyOn(database, 'query').mockImplementation(async (sql, parameters) => {
    const rows = await query(sql, parameters);
    largest = Math.max(largest, Buffer.byteLength(JSON.stringify(rows)));
    return rows;
  });
  return () => largest;
}

/** Of the other columns of a page, which its limit does not count. */
const BESIDE = 200 * 1_000;

describe('large messages of a thread', () => {
  it('are listed as far back as they fit; the database returns no more', async () => {
    const talk = await Talk.start(service);
    await fill(talk, { messages: 60, content: 200_000 });
    const largest = largestAnswer();

    const { numbers, truncated } = await listed(talk);

    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => 41 + index));
    expect(truncated).toBe(true);
    expect(largest()).toBeLessThan(LISTED_BYTES + BESIDE);
  });

  it('are all listed when they fit', async () => {
    const talk = await Talk.start(service);
    await fill(talk, { messages: 20, content: 200_000 });
    expect(await listed(talk)).toMatchObject({
      numbers: Array.from({ length: 20 }, (_, index) => 1 + index),
      truncated: false,
    });
  });

  it('are listed alone when the newest is larger than a page', async () => {
    const talk = await Talk.start(service, { toolProgress: { enabled: true } });
    await fill(talk, { messages: 4, content: 10, toolOutput: LISTED_BYTES });
    const { messages, numbers, truncated } = await listed(talk);
    expect({ numbers, truncated }).toEqual({ numbers: [4], truncated: true });
    expect(messages[0]?.toolCalls?.[0]?.output).toHaveLength(LISTED_BYTES);
  });

  it('count only with what is shown: without hidden tool calls and what only models read', async () => {
    const talk = await Talk.start(service, { toolProgress: { enabled: false } });
    await fill(talk, { messages: 20, content: 10, toolOutput: 300_000, transcript: 300_000 });
    const largest = largestAnswer();
    expect(await listed(talk)).toMatchObject({ messages: { length: 20 }, truncated: false });
    expect(largest()).toBeLessThan(BESIDE);
  });
});

describe('a run on a thread of large messages', () => {
  it('reads them in pages of bounded size until the model’s context is full', async () => {
    const talk = await Talk.start(service, { provider: { type: 'gemini' } });
    const size = 200_000;
    await fill(talk, { messages: 60, content: size });
    const largest = largestAnswer();

    expect((await talk.run('Newest')).status).toBe(200);

    const { contents } = service.models.requests.at(-1)?.body as { contents: readonly unknown[] };
    const fitting = Math.floor(defaultModel('gemini').historyCharacters / size / 2) * 2;
    // A history that is cut begins at a position that stays for several runs.
    const kept = contents.length - 1;
    expect(kept).toBeLessThanOrEqual(fitting);
    expect(kept).toBeGreaterThanOrEqual(fitting * SHARE_AFTER_CUT);
    expect(JSON.stringify(contents[0])).toContain(`${60 - kept + 1} x`);
    expect(largest()).toBeLessThan(HISTORY_PAGE_BYTES + BESIDE);
    expect((await talk.trace()).steps).toMatchObject([{ input: { omittedMessages: 60 - kept } }]);
  });

  it('reads a message that is larger than a page and fits the context', async () => {
    const talk = await Talk.start(service, { provider: { type: 'gemini' } });
    await fill(talk, { messages: 10, content: 1_000, toolOutput: 700_000, transcript: 200_000 });
    expect((await talk.run('Newest')).status).toBe(200);
    const { contents } = service.models.requests.at(-1)?.body as { contents: readonly unknown[] };
    expect(contents).toHaveLength(11);
    expect((await talk.trace()).steps).toMatchObject([{ input: { omittedMessages: 0 } }]);
  });
});

describe('a tool with a very long output', () => {
  it('has its output cut in the message and the stream, with a note', async () => {
    const talk = await Talk.start(service, { toolProgress: { enabled: true } });
    during(talk.threadId, { tools: [tool('dump', () => output('x'.repeat(MAX_TOOL_OUTPUT + 5)), 'exempt')] });
    service.models.reset();
    service.models.next(calls('dump', {}), says('Too much.'));

    const events = await talk.streamed('Go');

    const kept = `${'x'.repeat(MAX_TOOL_OUTPUT)}\n\n[The output was cut: ${MAX_TOOL_OUTPUT} of its ${MAX_TOOL_OUTPUT + 5} characters are kept.]`;
    expect(events.find(({ event }) => event.type === 'TOOL_CALL_RESULT')?.event['content']).toBe(kept);
    expect((await talk.messages()).at(-1)?.toolCalls?.[0]?.output).toBe(kept);
  });
});
