import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { type OfferedTool, ToolSource } from '../../../src/conversations/index.js';
import { newId } from '../../../src/platform/ids/index.js';
import { type Answer, message, useService } from '../../support/harness.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { ManualClock } from '../../support/manual-clock.js';
import { calls } from '../../support/scripted-models.js';
import { statementsOf } from '../../support/statements.js';
import { Talk } from '../../support/talk.js';
import { cancelAfterText, costs, used } from './support.js';

const tool = new NotingTool('note', 'changes_resources');

@Injectable()
class Notes extends ToolSource {
  offer(): Promise<OfferedTool[]> {
    return Promise.resolve([tool.offered]);
  }
}

@Module({ providers: [Notes], exports: [Notes] })
class NotesModule {}

const MONTH_MS = 31 * 24 * 60 * 60_000;
const clock = new ManualClock('2026-11-10T12:00:00.000Z');
const service = useService({ clock, extensions: { imports: [NotesModule], toolSources: [Notes] } });

const BLOCK = ['--credits-exhausted', 'block'] as const;
const said = [{ role: 'user', content: 'Hi' }];

function post(talk: Talk, path: string, body: object): Promise<Answer> {
  return service.http('POST', path, { key: talk.key, body, headers: { 'idempotency-key': newId() } });
}

function set({ organization }: Talk, ...options: string[]): Promise<object> {
  return service.cli('org', 'set', organization.id, ...options);
}

/** Everything that a run could store in the organization. */
function stored({ organization }: Talk): Promise<unknown[]> {
  const tables = ['threads', 'messages', 'runs', 'traces', 'idempotency_keys', 'credit_entries', 'files'];
  return service.database.query(
    tables
      .map((table) => `select to_jsonb(r) - 'counted' as row from ${table} r where organization_id = $1`)
      .join(' union all '),
    [organization.id],
  );
}

const agUi = (threadId: string): object => ({
  threadId,
  runId: 'r',
  messages: [{ id: 'm', role: 'user', content: 'Hi' }],
  tools: [],
  context: [],
  state: {},
  forwardedProps: {},
});

const WAYS: readonly (readonly [string, (talk: Talk) => Promise<Answer>])[] = [
  ['a run', (talk) => post(talk, `${talk.path}/runs`, message('Hi'))],
  ['a streamed run', (talk) => post(talk, `${talk.path}/runs/stream`, message('Hi'))],
  [
    'a chat completion on a new thread',
    (talk) => post(talk, '/v1/chat/completions', { assistant_id: talk.agentId, messages: said }),
  ],
  [
    'a chat completion on a thread',
    (talk) =>
      post(talk, '/v1/chat/completions', { assistant_id: talk.agentId, thread_id: talk.threadId, messages: said }),
  ],
  [
    'a streamed chat completion by the model',
    (talk) => post(talk, '/v1/chat/completions', { model: talk.agentId, messages: said, stream: true }),
  ],
  ['AG-UI on a thread', (talk) => post(talk, `/v1/agents/${talk.agentId}/ag-ui`, agUi(talk.threadId))],
  [
    'AG-UI on a thread of the client',
    (talk) => post(talk, `/v1/agents/${talk.agentId}/ag-ui`, agUi('conversation of the client')),
  ],
  ['suggestions', (talk) => post(talk, '/v1/chat/suggestions', { assistant_id: talk.agentId, messages: said })],
];

describe('a run of an organization that has used up its credits and is set to block', () => {
  it.each(WAYS)('is refused %s before anything is stored and before the model is called', async (_way, ask) => {
    const talk = await Talk.start(service, {}, '--credits', '0', ...BLOCK);
    const before = await stored(talk);

    const { status, body, headers } = await ask(talk);

    expect([status, body]).toEqual([
      422,
      { error: 'unprocessable_entity', message: expect.stringContaining('0 credits of this month') },
    ]);
    expect(headers.get('content-type')).toContain('application/json');
    expect(service.models.requests).toHaveLength(0);
    expect(await stored(talk)).toEqual(before);
  });

  it.each(['/runs', '/runs/stream'])(
    'is refused to go on with a run that has asked, by %s, and may once there are credits',
    async (path) => {
      const talk = await Talk.start(service, ASKS_ALWAYS);
      service.models.next(calls('note', { text: path }));
      const { interrupts } = (await talk.run('Hi')).body;
      await set(talk, '--credits', '0', ...BLOCK);
      const before = await stored(talk);
      const resume = { resume: interrupts.map(approve) };

      const refused = await post(talk, talk.path + path, resume);

      expect([refused.status, refused.body['error']]).toEqual([422, 'unprocessable_entity']);
      expect(tool.inputs).not.toContainEqual({ text: path });
      expect(await stored(talk)).toEqual(before);
      await set(talk, '--credits', 'none');
      service.models.next(costs(1));
      expect((await post(talk, talk.path + path, resume)).status).toBe(200);
      expect(tool.inputs).toContainEqual({ text: path });
    },
  );
});

describe('the credits of a month', () => {
  it('are used up by runs, and are available again in the next month', async () => {
    const talk = await Talk.start(service, {}, '--credits', '1', ...BLOCK);
    service.models.always(costs(5));
    const statuses: number[] = [];
    for (let run = 0; run < 3; run += 1) statuses.push((await talk.run('Hi')).status);
    expect(statuses).toEqual([200, 200, 422]);
    expect(await used(service, talk.key)).toBe(1);
    clock.jump(MONTH_MS);
    expect((await talk.run('Hi')).status).toBe(200);
  });

  it('include those of a run that was cancelled after its text was read', async () => {
    const talk = await Talk.start(service, {}, '--credits', '1', ...BLOCK);
    await cancelAfterText(service, talk, 5_000);
    expect(await used(service, talk.key)).toBe(1);
    expect((await talk.run('Again')).status).toBe(422);
  });

  it('do not limit agents with their own key, organizations set to allow more, and organizations without a setting', async () => {
    service.models.always(costs(5));
    const own = await Talk.start(
      service,
      { provider: { type: 'anthropic', useOwnApiKey: true, apiKey: 'own' } },
      '--credits',
      '0',
      ...BLOCK,
    );
    const allowed = await Talk.start(service, {}, '--credits', '0');
    const unset = await Talk.start(service, {}, ...BLOCK);
    for (const talk of [own, allowed, unset]) {
      const runs = WAYS.filter(([way]) => way !== 'suggestions');
      for (const [, ask] of runs) expect((await ask(talk)).status).toBe(200);
    }
  });

  it('do not prevent the repeat of an accepted request, which gets the first response', async () => {
    const talk = await Talk.start(service, {}, '--credits', '1', ...BLOCK);
    service.models.next(costs(10));
    const first = await talk.post(message('Hi'), { 'idempotency-key': 'one' });
    expect((await talk.run('Again')).status).toBe(422);
    const repeat = await talk.post(message('Hi'), { 'idempotency-key': 'one' });
    expect([repeat.status, repeat.body]).toEqual([200, first.body]);
    expect(service.models.requests).toHaveLength(1);
  });

  it('cost one statement for a run that they limit, and none for other runs', async () => {
    service.models.always(costs(1));
    const [free, allowed, bound] = [
      await Talk.start(service),
      await Talk.start(service, {}, '--credits', '100'),
      await Talk.start(service, {}, '--credits', '100', ...BLOCK),
    ];
    const costsOf = async (talk: Talk): Promise<number> => {
      await talk.run('Hi');
      return (await statementsOf(service.database, () => talk.run('Hi'))).length;
    };
    expect([await costsOf(free), await costsOf(allowed), await costsOf(bound)]).toEqual([2, 2, 3]);
  });
});
