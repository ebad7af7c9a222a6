import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { contexts } from '../../../src/app.module.js';
import { newId } from '../../../src/platform/ids/index.js';
import { approve, ASKS_ALWAYS, NotingTool } from '../../support/approvals.js';
import { message, type TestOrganization, useService } from '../../support/harness.js';
import { answers, says } from '../../support/scripted-models.js';
import { during, scriptedRuns } from '../../support/scripted-runs.js';
import { Talk } from '../../support/talk.js';

/*
 * JSON as earlier releases wrote it, and as a later one may, in rows of the current tables. The harness compares every answer
 * with the OpenAPI document, so a field without a default fails here.
 */

type Row = Readonly<Record<string, unknown>>;

interface AgentFixture {
  readonly by: string;
  readonly type: string;
  readonly settings: Row;
  readonly reads: Row;
}

const NOW = '2026-11-21T10:00:00.000Z';
const service = useService({ extensions: scriptedRuns });
let organization: TestOrganization;

beforeAll(async () => {
  organization = await service.organization('--plan', 'enterprise', '--features', 'knowledge_search,ai_gateway');
});

function fixture(name: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, `../../support/stored-json/${name}.json`), 'utf8'));
}

const AGENTS = fixture('agents') as readonly AgentFixture[];

async function insert(table: string, row: Row): Promise<void> {
  const columns = Object.keys(row).join(', ');
  await service.database.query(
    `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1::text::jsonb)`,
    [JSON.stringify(row)],
  );
}

async function insertAgent({ type, settings }: Pick<AgentFixture, 'type' | 'settings'>): Promise<string> {
  const id = newId();
  const organization_id = organization.id;
  const agent = { name: 'Ada', system_prompt: 'Be kind.', settings };
  await insert('agents', { id, organization_id, type, ...agent, version: 1, created_at: NOW, updated_at: NOW });
  const version = { organization_id, agent_id: id, version: 1 };
  await insert('agent_versions', {
    ...version,
    created_at: NOW,
    changed_by: { type: 'operator' },
    changes: [],
    changes_bytes: 2,
  });
  const content = { name: 'Ada', systemPrompt: 'Be kind.', settings };
  await insert('agent_version_parts', { ...version, part: 'agent', content });
  return id;
}

async function get<Body = Row>(path: string): Promise<Body> {
  const { status, body, text } = await service.http<Body>('GET', `/v1/${path}`, { key: organization.key });
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return body;
}

describe.each(AGENTS)('an agent that was stored by $by', (stored) => {
  it('reads as today, is changed, goes back to the old version, and answers', async () => {
    const id = await insertAgent(stored);
    const key = organization.key;
    const read = await get(`agents/${id}`);
    expect(read).toMatchObject(stored.reads);

    const changed = await service.http('PATCH', `/v1/agents/${id}`, {
      key,
      body: { name: 'Grace', toolProgress: { enabled: true } },
    });
    expect(changed).toMatchObject({ status: 200, body: { name: 'Grace', version: 2 } });
    await get(`agents/${id}/versions`);
    const restored = await service.http('POST', `/v1/agents/${id}/versions/1/restore`, { key });
    expect(restored).toMatchObject({ status: 200, body: { ...stored.reads, name: 'Ada', version: 3 } });

    const thread = await service.http<{ id: string }>('POST', '/v1/threads', { key, body: { assistant_id: id } });
    service.models.next(says('Hello.'));
    const run = await service.http('POST', `/v1/threads/${thread.body.id}/runs`, { key, body: message('Hi') });
    expect(run.status).toBe(200);
  });
});

it('what a later version stored of an agent is kept by a change that this version makes', async () => {
  const later = AGENTS.at(-1);
  if (!later) throw new Error('There is no such fixture');
  const id = await insertAgent(later);
  await service.http('PATCH', `/v1/agents/${id}`, {
    key: organization.key,
    body: {
      knowledgeSearch: { maxResults: 9 },
      responseComponents: { frequency: 'high' },
      provider: { type: 'anthropic', webSearch: true },
    },
  });
  const [row] = await service.database.query<{ settings: Row }>('select settings from agents where id = $1::uuid', [
    id,
  ]);
  expect(row?.settings).toMatchObject({
    greeting: 'Hello',
    tools: { parallel: true },
    knowledgeSearch: { rerank: true, maxResults: 9 },
    responseComponents: { frequency: 'high', theme: 'dark', components: { hologram: true } },
    provider: { options: { topP: 0.2, webSearch: true, thinking: { budget: 3 } } },
  });
});

it('hooks that were stored by their first version read as today', async () => {
  const { document, sessionStart } = fixture('hooks') as { document: Row; sessionStart: Row };
  const agent_id = await insertAgent({ type: 'anthropic', settings: AGENTS[0]?.settings ?? {} });
  await insert('agent_hooks', { agent_id, organization_id: organization.id, document, session_start: sessionStart });
  expect(await get(`agents/${agent_id}/hooks`)).toEqual({ hooks: document });
  expect(await get(`agents/${agent_id}/session-start-hook`)).toEqual(sessionStart);
});

it('integrations that were stored by earlier versions read as today, with their tools', async () => {
  const stored = fixture('integrations') as readonly (Row & { identity: string; tools: unknown; overview: unknown })[];
  const agent_id = await insertAgent({ type: 'anthropic', settings: AGENTS[0]?.settings ?? {} });
  const organization_id = organization.id;
  for (const { type, identity, settings, tools, overview } of stored) {
    const id = newId();
    await insert('tool_integrations', {
      id,
      organization_id,
      type,
      identity,
      settings,
      excluded_tools: [],
      revision: 1,
      created_at: NOW,
      updated_at: NOW,
    });
    await insert('tool_integration_agents', { agent_id, integration_id: id, organization_id, attached_at: NOW });
    const state = {
      revision: 1,
      status: 'connected',
      tools,
      tools_digest: 'd',
      tools_bytes: 2,
      overview,
      checked_at: NOW,
    };
    await insert('tool_integration_states', { integration_id: id, organization_id, ...state });
    expect(await get(`agents/${agent_id}/tool-integrations/${id}`)).toMatchObject({ id });
  }
  await get(`agents/${agent_id}/tool-integrations`);
});

it('what agents shall know, as earlier versions stored it, reads as today', async () => {
  const agent_id = await insertAgent({ type: 'anthropic', settings: AGENTS[0]?.settings ?? {} });
  const organization_id = organization.id;
  const site = { agent_id, organization_id, crawl_id: newId(), state: 'SUCCESS', work_left: false, active_at: NOW };
  await insert('knowledge_websites', site);
  const root = { root_url: 'https://example.com/', excluded_urls: ['https://example.com/old'], selected_urls: [] };
  await insert('knowledge_website_roots', { id: newId(), organization_id, agent_id, position: 0, ...root });
  const website = await get(`agents/${agent_id}/knowledge-bases/website`);
  expect(JSON.stringify(website)).toContain('https://example.com/old');
});

it('a selection of drive files, as the first version stored it, reads as today', async () => {
  const agent_id = await insertAgent({ type: 'anthropic', settings: AGENTS[0]?.settings ?? {} });
  const organization_id = organization.id;
  const account_id = newId();
  await insert('drive_service_accounts', {
    id: account_id,
    organization_id,
    client_email: 'a@example.com',
    project_id: 'p',
    added_by: newId(),
    created_at: NOW,
  });
  const files = [
    { id: 'f1', name: 'Notes', mimeType: 'text/plain', kind: 'file' },
    { id: 'd1', name: 'Reports', mimeType: 'application/vnd.google-apps.folder', kind: 'folder' },
  ];
  const sync = {
    state: 'SUCCESS',
    sync_id: newId(),
    phase: 'work',
    is_full: false,
    is_truncated: false,
    change_pages: 0,
    stalls: 0,
  };
  const times = { started_at: NOW, due_at: NOW, next_sync_at: '2999-01-01T00:00:00Z' };
  await insert('drive_sources', {
    id: newId(),
    organization_id,
    agent_id,
    kind: 'service_account',
    account_id,
    files,
    ...sync,
    ...times,
  });
  const read = await get(`agents/${agent_id}/knowledge-bases/drive-service-account`);
  expect(JSON.stringify(read)).toContain('Notes');
});

it('calls that wait for approval, as the first version stored them, can be answered', async () => {
  const talk = await Talk.start(service, ASKS_ALWAYS);
  const pay = new NotingTool('pay');
  during(talk.threadId, { tools: [pay.offered] });
  service.models.next(answers({ text: 'Shall I?', calls: [{ id: 'a', name: 'pay', input: { sum: 1 } }] }));
  const { body } = await talk.run('Pay');
  const [asked] = body.interrupts;
  if (!asked) throw new Error('Nothing was asked');
  const first = [{ id: asked.id, toolCallId: 'a', tool: 'pay', input: { sum: 1 } }];
  const changed = await service.database.query(
    'update runs set approvals = $2::text::jsonb, kept_results = null where id = $1::uuid and approvals is not null returning id',
    [body.run.id, JSON.stringify(first)],
  );
  expect(changed).toHaveLength(1);
  service.models.next(says('It is paid.'));
  expect(await talk.resume(approve(asked))).toMatchObject({
    status: 200,
    body: { run: { status: 'completed' }, message: { content: 'It is paid.' } },
  });
  expect(pay.inputs).toEqual([{ sum: 1 }]);
});

it('messages and traces that were stored by earlier versions read as today, and a run goes on after them', async () => {
  const agent_id = await insertAgent({ type: 'anthropic', settings: AGENTS[0]?.settings ?? {} });
  const { key, id: organization_id } = organization;
  const thread_id = (
    await service.http<{ id: string }>('POST', '/v1/threads', { key, body: { assistant_id: agent_id } })
  ).body.id;
  const stored = fixture('messages') as readonly { row: Row }[];
  for (const { row } of stored) {
    const said = { organization_id, thread_id, run_id: newId(), status: 'completed', blocked: false, created_at: NOW };
    await insert('messages', { ...said, id: newId(), role: 'user', content: 'And?' });
    await insert('messages', { ...said, id: newId(), role: 'assistant', content: 'Done.', ...row });
  }
  await service.database.query('update threads set last_message_at = $2::timestamptz where id = $1::uuid', [
    thread_id,
    NOW,
  ]);
  const { messages } = await get<{ messages: readonly unknown[] }>(`threads/${thread_id}/messages`);
  expect(messages).toHaveLength(2 * stored.length);
  service.models.next(says('Hello.'));
  const run = await service.http('POST', `/v1/threads/${thread_id}/runs`, { key, body: message('Hi') });
  expect(run.status).toBe(200);
  expect(JSON.stringify(service.models.requests.at(-1)?.body)).toContain('Go on.');

  const { steps } = fixture('trace') as { steps: unknown };
  const trace = {
    id: newId(),
    organization_id,
    agent_id,
    thread_id,
    channel: 'api',
    provider: 'anthropic',
    model: 'm',
    status: 'completed',
  };
  const times = {
    started_at: NOW,
    latency_ms: 5,
    credits: 0,
    input: 'Hi',
    output: 'Hello',
    ended_at: NOW,
    stored_bytes: 9,
    withheld: false,
  };
  await insert('traces', { ...trace, ...times, steps });
  await get(`agents/${agent_id}/traces/${trace.id}`);
  await get(`agents/${agent_id}/traces/export`);
});

it('a document that cannot be read is an internal error without its content', async () => {
  const id = await insertAgent({
    type: 'anthropic',
    settings: { provider: { model: 'm', options: { type: 'anthropic', thinking: 'MARK' } } },
  });
  const { status, text } = await service.http('GET', `/v1/agents/${id}`, { key: organization.key });
  expect(status).toBe(500);
  expect(text).not.toContain('MARK');
});

/** The schema of a job reads its payload. */
const READ_ELSEWHERE = ['outbox.payload'];

it('every JSON column is read by a schema, or is marked as what customers sent', async () => {
  const mapped = contexts
    .flatMap(({ schema }) => schema?.entities ?? [])
    .flatMap((entity) => {
      const { props } = service.database.orm.getMetadata().getAll().get(entity.meta.class) ?? { props: [] };
      return props.flatMap(({ customType }) => columnOf(customType) ?? []);
    });
  const unmapped = contexts.flatMap(({ schema }) => schema?.documents ?? []).map(({ column }) => column);
  const rows = await service.database.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type in ('json', 'jsonb') and not table_name like 'bullmq%'`,
  );
  expect(rows.map(({ name }) => name).sort()).toEqual([...mapped, ...unmapped, ...READ_ELSEWHERE].sort());
});

function columnOf(type: object | undefined): string | undefined {
  return (type?.constructor as { readonly column?: string } | undefined)?.column;
}
