import { beforeEach, describe, expect, it } from '@jest/globals';
import { PurgeVersions } from '../../../src/agents/jobs/purge-versions.job.js';
import { OldVersionsRepository } from '../../../src/agents/persistence/old-versions.repository.js';
import { newId } from '../../../src/platform/ids/index.js';
import { useService, type TestOrganization } from '../../support/harness.js';
import { activeJob } from '../../support/job-site.js';
import { type AgentBody, createAgent, type ErrorBody, outcome } from './support.js';

interface Version {
  readonly version: number;
  readonly createdAt: string;
  readonly changedBy: Readonly<Record<string, string>>;
  readonly changes: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

interface Sender {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const TEXT = expect.any(String);
const REDACTED = '<redacted>';

const service = useService();
let organization: TestOrganization;

beforeEach(async () => {
  organization = await service.organization('--plan', 'enterprise', '--features', 'knowledge_search');
});

function send<Body = AgentBody>(method: string, path: string, body?: unknown, { key, headers }: Sender = {}) {
  return service.http<Body>(method, `/v1/agents/${path}`, { key: key ?? organization.key, body, headers });
}

async function patch(id: string, body: unknown): Promise<AgentBody> {
  const { status, body: agent, text } = await send('PATCH', id, body);
  if (status !== 200) throw new Error(text);
  return agent;
}

async function versions(id: string, query = ''): Promise<readonly Version[]> {
  return (await send<{ versions: Version[] }>('GET', `${id}/versions${query}`)).body.versions;
}

function restore<Body = AgentBody>(id: string, version: number | string, sender?: Sender) {
  return send<Body>('POST', `${id}/versions/${version}/restore`, undefined, sender);
}

describe('GET /v1/agents/{agentId}/versions', () => {
  it('lists newest first what changed, when and by whom; the creation is version 1', async () => {
    const made = await createAgent(service, organization);
    const other = await organization.keyWith(['manageAgents']);
    const changed = await send('PATCH', made.id, { name: 'Grace', timeoutMinutes: 20 }, other);
    const [second, first, ...more] = await versions(made.id);
    expect(more).toEqual([]);
    expect(second).toEqual({
      version: 2,
      createdAt: changed.body.updatedAt,
      changedBy: { type: 'api_key', keyId: other.id, memberId: first?.changedBy.memberId },
      changes: [
        { field: 'name', before: 'Ada', after: 'Grace' },
        { field: 'timeoutMinutes', before: 6, after: 20 },
      ],
    });
    const changedBy = { type: 'api_key', keyId: TEXT, memberId: TEXT };
    expect(first).toEqual({ version: 1, createdAt: made.createdAt, changedBy, changes: [] });
    expect(first?.changedBy.keyId).not.toBe(other.id);
  });

  it('shows fields as responses with the agent do', async () => {
    const { id, provider, responseComponents } = await createAgent(service, organization);
    const after = await patch(id, {
      provider: { type: 'anthropic', webSearch: true },
      longTermMemory: { enabled: false },
      responseComponents: { components: { list: true } },
    });
    expect((await versions(id))[0]?.changes).toEqual([
      { field: 'provider', before: provider, after: after.provider },
      { field: 'longTermMemory', before: { enabled: true }, after: { enabled: false } },
      { field: 'responseComponents', before: responseComponents, after: after.responseComponents },
    ]);
  });

  it('shows the limits of runs whole, and restoring a version restores them', async () => {
    const [none, set] = [
      { maxSteps: null, maxCredits: null },
      { maxSteps: 7, maxCredits: null },
    ];
    const { id } = await createAgent(service, organization);
    await patch(id, { runLimits: { maxSteps: 7 } });
    expect((await versions(id))[0]?.changes).toEqual([{ field: 'runLimits', before: none, after: set }]);
    expect((await restore(id, 1)).body).toMatchObject({ runLimits: none, version: 3 });
    expect((await restore(id, 2)).body).toMatchObject({ runLimits: set, version: 4 });
  });

  it('has no entry for a change without effect', async () => {
    const made = await createAgent(service, organization);
    await patch(made.id, { name: made.name });
    expect((await patch(made.id, {})).version).toBe(1);
    expect(await versions(made.id)).toHaveLength(1);
  });

  it('has one entry for each of 50 concurrent changes', async () => {
    const { id } = await createAgent(service, organization);
    await Promise.all(Array.from({ length: 50 }, (_, n) => patch(id, { name: `name ${n}` })));
    const all = await versions(id);
    expect(all.map(({ version }) => version)).toEqual(Array.from({ length: 51 }, (_, n) => 51 - n));
    const links = all.slice(0, -1).map(({ changes }) => changes[0]);
    expect(links.slice(0, -1).map((link) => link?.before)).toEqual(links.slice(1).map((link) => link?.after));
  });

  it('has no entry for a refused change', async () => {
    const { id } = await createAgent(service, organization);
    expect((await send('PATCH', id, { name: 'Grace', provider: { type: 'gemini' } })).status).toBe(400);
    expect(await versions(id)).toHaveLength(1);
  });

  it('never shows a secret', async () => {
    const provider = { type: 'anthropic', useOwnApiKey: true, apiKey: 'canary-key-1' };
    const aiGateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 'canary-token-1' };
    const { id } = await createAgent(service, organization, { provider });
    await patch(id, { aiGateway });
    await patch(id, { aiGateway: { ...aiGateway, edgeApiToken: 'canary-token-2' } });
    await send('PUT', `${id}/provider-key`, { apiKey: 'canary-key-2' });
    const { text, body } = await send<{ versions: Version[] }>('GET', `${id}/versions`);
    expect(text).not.toContain('canary');
    const token = { field: 'aiGateway.edgeApiToken', before: REDACTED, after: REDACTED };
    const address = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main' };
    expect(body.versions.map(({ changes }) => changes)).toEqual([
      [{ field: 'provider.apiKey', before: REDACTED, after: REDACTED }],
      [token],
      [{ field: 'aiGateway', before: null, after: address }, token],
      [],
    ]);
    const stored = await service.database.query(
      `select version from agent_versions v where agent_id = $1 and v::text like '%canary%'
       union all select version from agent_version_parts p where agent_id = $1 and p::text like '%canary%'`,
      [id],
    );
    expect(stored).toEqual([]);
  });

  it('continues before a version, and accepts a limit', async () => {
    const { id } = await createAgent(service, organization);
    for (const name of ['b', 'c', 'd']) await patch(id, { name });
    const numbers = async (query: string) => (await versions(id, query)).map(({ version }) => version);
    expect(await numbers('?limit=2')).toEqual([4, 3]);
    expect(await numbers('?limit=2&before=3')).toEqual([2, 1]);
    expect(await numbers('?before=1')).toEqual([]);
  });

  it('returns fewer versions when changes are long, but at least one', async () => {
    const { id } = await createAgent(service, organization);
    // Ten versions of 2.4 MB each: three fit a page of 8 MiB.
    for (const letter of ['\u4e00', '\u4e01', '\u4e02', '\u4e03', '\u4e04']) {
      await patch(id, { systemPrompt: letter.repeat(200_000) });
      await patch(id, { systemPrompt: letter.repeat(199_999) });
    }
    const newest = await versions(id);
    expect(newest.length).toBeLessThan(10);
    const pages = [newest];
    for (let last = newest.at(-1); last && last.version > 1; last = pages.at(-1)?.at(-1)) {
      pages.push(await versions(id, `?before=${last.version}`));
    }
    const all = pages.flat().map(({ version }) => version);
    expect(all).toEqual(Array.from({ length: 11 }, (_, n) => 11 - n));
  });

  it.each(['?limit=0', '?limit=101', '?before=0', '?before=x', '?page=1'])('refuses %s', async (query) => {
    const { id } = await createAgent(service, organization);
    const { status, body } = await send<ErrorBody>('GET', `${id}/versions${query}`);
    expect([status, body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
  });

  it('refuses other organizations and keys whose allowlist lacks the agent, and needs no capability', async () => {
    const { id } = await createAgent(service, organization);
    const other = await createAgent(service, organization);
    const stranger = await service.organization();
    expect((await send('GET', `${id}/versions`, undefined, stranger)).status).toBe(404);
    const scoped = await organization.keyWith(['chat'], [other.id]);
    expect((await send('GET', `${id}/versions`, undefined, scoped)).status).toBe(403);
    expect((await send('GET', `${other.id}/versions`, undefined, scoped)).status).toBe(200);
  });

  it('is deleted with the agent', async () => {
    const { id } = await createAgent(service, organization);
    await patch(id, { name: 'Grace' });
    await send('DELETE', id);
    const left = await service.database.query('select 1 from agent_versions where agent_id = $1', [id]);
    expect(left).toEqual([]);
  });
});

describe('POST /v1/agents/{agentId}/versions/{version}/restore', () => {
  it('restores the agent and its sections as a new version', async () => {
    const made = await createAgent(service, organization, { systemPrompt: 'Be kind.', timeoutMinutes: 3 });
    const sections = [
      { name: 'Tone', content: 'Warm' },
      { name: 'Facts', content: 'Few' },
    ];
    const put = await send<{ sections: unknown }>('PUT', `${made.id}/sections`, { sections });
    expect(put.status).toBe(200);
    await patch(made.id, { name: 'Grace', systemPrompt: '', provider: { type: 'anthropic', temperature: 0.5 } });
    await send('PUT', `${made.id}/sections`, { sections: [{ name: 'Other', content: 'x' }] });

    const restored = await restore(made.id, 2);
    expect(outcome(restored)).toEqual([200, { ...made, version: 5, updatedAt: TEXT }]);
    expect(restored.headers.get('etag')).toBe('"5"');
    const read = await send<{ sections: { name: string; content: string }[] }>('GET', `${made.id}/sections`);
    expect(read.body.sections).toMatchObject(sections);
    const [latest] = await versions(made.id);
    expect(latest?.changes.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['name', 'systemPrompt', 'provider', expect.stringMatching(/^sections/)]),
    );

    expect((await restore(made.id, 1)).body).toMatchObject({ name: 'Ada', version: 6 });
    expect((await send<{ sections: unknown }>('GET', `${made.id}/sections`)).body.sections).toEqual([]);
    expect((await restore(made.id, 4)).body).toMatchObject({ name: 'Grace', systemPrompt: '', version: 7 });
    const again = await send<{ sections: unknown }>('GET', `${made.id}/sections`);
    expect(again.body.sections).toMatchObject([{ name: 'Other', content: 'x' }]);
  });

  it('creates no version when nothing differs', async () => {
    const made = await createAgent(service, organization);
    expect(outcome(await restore(made.id, 1))).toEqual([200, made]);
    const back = await patch(made.id, { name: 'Grace' });
    expect((await restore(made.id, back.version)).body).toEqual(back);
    expect(await versions(made.id)).toHaveLength(2);
  });

  it('keeps secrets and useOwnApiKey', async () => {
    const provider = { type: 'gemini', useOwnApiKey: true, apiKey: 'sk-1' };
    const { id } = await createAgent(service, organization, { provider });
    await patch(id, { name: 'Grace' });
    await send('PUT', `${id}/provider-key`, { apiKey: 'sk-2' });
    await restore(id, 1);
    const again = await send<ErrorBody>('PUT', `${id}/provider-key`, { apiKey: 'sk-2' });
    expect([again.status, (await versions(id)).length]).toEqual([200, 4]);
  });

  it('keeps the settings of the operator', async () => {
    const { id } = await createAgent(service, organization);
    await service.cli('agent', 'set', id, '--disable-interactive-prompts', 'true');
    await restore(id, 1);
    const [row] = await service.database.query<{ disabled: boolean }>(
      `select (settings ->> 'disableInteractivePrompts')::boolean as disabled from agents where id = $1`,
      [id],
    );
    expect(row?.disabled).toBe(true);
  });

  it('is refused when the gateway’s token was deleted, until another is set', async () => {
    const aiGateway = { enabled: true, edgeAccountId: 'acc', gatewayName: 'main', edgeApiToken: 't' };
    const { id } = await createAgent(service, organization, { aiGateway });
    await patch(id, { aiGateway: null });
    const refused = await restore<ErrorBody>(id, 1);
    expect([refused.status, refused.body.code]).toEqual([422, 'version_not_restorable']);
    await patch(id, { aiGateway: { ...aiGateway, gatewayName: 'second' } });
    expect((await restore(id, 1)).body.aiGateway).toMatchObject({ gatewayName: 'main' });
  });

  it('keeps settings that the plan does not include, and restores the others', async () => {
    const { id } = await createAgent(service, organization, { name: 'First', knowledgeSearch: { maxResults: 9 } });
    await patch(id, { knowledgeSearch: { maxResults: 3 }, aiGateway: { enabled: false } });
    await patch(id, { name: 'Third', aiGateway: null });
    await service.cli('org', 'set', organization.id, '--plan', 'free', '--features', '');
    expect((await restore(id, 2)).body).toMatchObject({
      name: 'First',
      aiGateway: null,
      knowledgeSearch: { maxResults: 5 },
    });
    expect((await restore(id, 1)).body).toMatchObject({ version: 4 });
    await service.cli('org', 'set', organization.id, '--plan', 'enterprise', '--features', 'knowledge_search');
    const { body } = await service.http('GET', `/v1/agents/${id}`, { key: organization.key });
    expect(body).toMatchObject({ name: 'First', aiGateway: null, knowledgeSearch: { maxResults: 3 } });
  });

  it('answers 404 for a version that the agent does not have', async () => {
    const made = await createAgent(service, organization);
    expect(outcome(await restore(made.id, 2))).toEqual([404, { statusCode: 404, error: 'not_found', message: TEXT }]);
    expect((await restore(newId(), 1)).status).toBe(404);
  });

  it.each(['0', '-1', '1.5', 'latest', '2147483648', '99999999999'])('refuses %s as a version', async (version) => {
    const { id } = await createAgent(service, organization);
    const { status, body } = await restore<ErrorBody>(id, version);
    expect([status, body.code]).toEqual([400, 'FST_ERR_VALIDATION']);
  });

  it('checks If-Match', async () => {
    const { id } = await createAgent(service, organization);
    await patch(id, { name: 'Grace' });
    const stale = await restore<ErrorBody>(id, 1, { headers: { 'if-match': '"1"' } });
    expect([stale.status, stale.body.code]).toEqual([409, 'version_conflict']);
    expect((await restore(id, 1, { headers: { 'if-match': '"2"' } })).status).toBe(200);
  });

  it('needs manageAgents and refuses other organizations', async () => {
    const { id } = await createAgent(service, organization);
    await patch(id, { name: 'Grace' });
    expect((await restore<ErrorBody>(id, 1, await organization.keyWith(['chat']))).body.code).toBe(
      'forbidden_by_key_role',
    );
    expect((await restore(id, 1, await service.organization())).status).toBe(404);
    expect(await versions(id)).toHaveLength(2);
  });
});

describe('the versions of an agent', () => {
  const large = (letter: string): string => letter.repeat(5_000);
  /** As a run of the job does, without its repetitions. */
  async function removeAllBut(id: string, kept: number): Promise<number> {
    const versions = service.app.get(OldVersionsRepository);
    await versions.removeUnusedTexts(organization.id, id);
    return versions.removeSome(organization.id, id, { kept, limit: 2 });
  }

  it('are only the newest; these can be restored with the parts that they have from removed ones', async () => {
    const { id } = await createAgent(service, organization);
    await patch(id, { systemPrompt: large('a') });
    await send('PUT', `${id}/sections`, { sections: [{ name: 'tone', content: 'Be kind.' }] });
    for (const name of ['Grace', 'Mary', 'Edith']) await patch(id, { name });
    await patch(id, { systemPrompt: large('b') });
    while ((await removeAllBut(id, 3)) > 0);
    expect((await versions(id)).map(({ version }) => version)).toEqual([7, 6, 5]);
    expect(await versions(id, '?before=5')).toEqual([]);
    expect((await restore<ErrorBody>(id, 4)).status).toBe(404);
    expect((await restore(id, 5)).body).toMatchObject({ version: 8, name: 'Mary', systemPrompt: large('a') });
    const { text } = await send('GET', `${id}/sections`);
    expect(text).toContain('Be kind.');
  });

  it('that a limited removal leaves can all be restored, and texts that none of them has are removed', async () => {
    const { id } = await createAgent(service, organization);
    for (const letter of ['a', 'b', 'c', 'd', 'e', 'f']) await patch(id, { systemPrompt: large(letter) });
    expect(await removeAllBut(id, 3)).toBe(2);
    expect((await restore(id, 3)).body).toMatchObject({ systemPrompt: large('b') });
    while ((await removeAllBut(id, 3)) > 0);
    for (const letter of ['g', 'h']) {
      await patch(id, { systemPrompt: large(letter) });
      await removeAllBut(id, 3);
    }
    const texts = await service.database.query<{ first: string }>(
      'select left(content, 1) as first from agent_version_texts where agent_id = $1 order by 1',
      [id],
    );
    expect(texts.map(({ first }) => first)).toEqual(['b', 'e', 'f', 'g', 'h']);
  });

  it('leave their large texts to the next run of the job, because a list of versions may just be reading them', async () => {
    const { id } = await createAgent(service, organization);
    for (const letter of ['a', 'b']) await patch(id, { systemPrompt: large(letter) });
    const texts = async (): Promise<string[]> => {
      const sql = 'select left(content, 1) as first from agent_version_texts where agent_id = $1 order by 1';
      return (await service.database.query<{ first: string }>(sql, [id])).map(({ first }) => first);
    };
    /** More than the job removes at once. */
    const addCopies = async (copied: number, from: number, to: number): Promise<void> => {
      await service.database.query(
        `insert into agent_versions (organization_id, agent_id, version, created_at, changed_by, changes, changes_bytes)
         select organization_id, agent_id, nth, created_at, changed_by, changes, changes_bytes
         from agent_versions, generate_series($3::int, $4::int) nth where agent_id = $1 and version = $2`,
        [id, copied, from, to],
      );
      await service.database.query('update agents set version = $2 where id = $1', [id, to]);
    };
    await addCopies(1, 4, 260);
    await service.app.get(PurgeVersions).process(activeJob({}));
    expect(await texts()).toEqual(['a', 'b']);
    await addCopies(260, 261, 270);
    await service.app.get(PurgeVersions).process(activeJob({}));
    expect(await texts()).toEqual(['b']);
  });

  it('are the newest 200, once the job has removed the others', async () => {
    const { id } = await createAgent(service, organization);
    await service.database.query(
      `insert into agent_versions (organization_id, agent_id, version, created_at, changed_by, changes, changes_bytes)
       select organization_id, agent_id, nth, created_at, changed_by, changes, changes_bytes
       from agent_versions, generate_series(2, 260) nth where agent_id = $1`,
      [id],
    );
    await service.database.query('update agents set version = 260 where id = $1', [id]);
    await service.app.get(PurgeVersions).process(activeJob({}));
    const left = await service.database.query(
      'select min(version), count(*)::int from agent_versions where agent_id = $1',
      [id],
    );
    expect(left).toEqual([{ min: 61, count: 200 }]);
    expect((await restore(id, 61)).status).toBe(200);
  });
});
