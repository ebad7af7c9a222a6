import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/support/manual-clock.js';
import { openTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { EventBus } from '../platform/events/index.js';
import { newId } from '../platform/ids/index.js';
import { AddMember } from './application/add-member.js';
import { AuthenticateApiKey } from './application/authenticate-api-key.js';
import { BatchedKeyLookup } from './application/batched-key-lookup.js';
import { CreateOrganization } from './application/create-organization.js';
import { FirstOrganization } from './application/first-organization.js';
import { IssueApiKey } from './application/issue-api-key.js';
import { OrganizationDirectory } from './application/organization-directory.js';
import { RecordKeyUse } from './application/record-key-use.js';
import { ResourceLookup, ResourceLookups, type ResourceOfAgent } from './application/resource-lookup.js';
import { RevokeApiKey } from './application/revoke-api-key.js';
import { UpdateOrganization } from './application/update-organization.js';
import { ApiKeyInvalid, ApiKeyNotFound, OrganizationNotFound } from './domain/access.errors.js';
import { formatApiKey } from './domain/api-key-format.js';
import type { Capability } from './domain/capability.js';
import type { ApiKeyPrincipal } from './domain/principal.js';
import { accessSchema } from './persistence/access.schema.js';
import { ApiKeyRepository } from './persistence/api-key.repository.js';
import { MemberRepository } from './persistence/member.repository.js';
import { OrganizationRepository } from './persistence/organization.repository.js';

class OneAgent extends ResourceLookup {
  readonly kind = 'agent';
  readonly agentId = newId();
  override find(_organizationId: string, id: string): Promise<ResourceOfAgent | null> {
    return Promise.resolve(id === this.agentId ? { agentId: id } : null);
  }
  override absent(): never {
    throw new Error('not asked for');
  }
}

let open: TestDatabase;
beforeAll(async () => {
  open = await openTestDatabase([accessSchema]);
});
afterAll(() => open.close());

/** The use cases of one process on the shared database. */
function startProcess({ database } = open) {
  const clock = new ManualClock('2026-11-21T00:00:00.000Z');
  const events = new EventBus();
  const organizations = new OrganizationRepository(database);
  const members = new MemberRepository(database);
  const keys = new ApiKeyRepository(database);
  const lookups = new ResourceLookups();
  const agent = new OneAgent();
  lookups.register(agent);
  const uses = new RecordKeyUse(clock, keys);
  const createOrganization = new CreateOrganization(database, clock, organizations, members);
  const issueApiKey = new IssueApiKey(database, clock, members, keys, lookups);
  const updateOrganization = new UpdateOrganization(database, clock, events, organizations);
  const revokeApiKey = new RevokeApiKey(database, clock, events, keys);
  return {
    clock,
    agent,
    uses,
    createOrganization,
    issueApiKey,
    updateOrganization,
    addMember: new AddMember(database, clock, members),
    revokeApiKey,
    authenticate: new AuthenticateApiKey(clock, events, keys, new BatchedKeyLookup(clock, keys), uses),
    firstOrganization: new FirstOrganization(
      database,
      organizations,
      createOrganization,
      updateOrganization,
      keys,
      issueApiKey,
      revokeApiKey,
    ),
    directory: new OrganizationDirectory(clock, events, organizations, members),
    storedKey: (organizationId: string) => keys.list(organizationId),
  };
}

type Process = ReturnType<typeof startProcess>;

async function withKey(
  process: Process,
  request: Partial<Parameters<IssueApiKey['byOperator']>[2]> = {},
): Promise<{ organizationId: string; ownerId: string; keyId: string; key: string }> {
  const { organization, owner } = await process.createOrganization.execute({ name: 'Acme' });
  const { key, record } = await process.issueApiKey.byOperator(organization.id, undefined, {
    name: 'k',
    capabilities: ['chat'],
    ...request,
  });
  return { organizationId: organization.id, ownerId: owner.id, keyId: record.id, key };
}

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const before = open.database.statementCount;
  await work();
  return open.database.statementCount - before;
}

describe('the first start', () => {
  it('creates the organization Default and one working key with every capability, also when several processes start at once', async () => {
    const empty = await openTestDatabase([accessSchema]);
    const processes = [startProcess(empty), startProcess(empty), startProcess(empty)];
    const keys = (await Promise.all(processes.map(({ firstOrganization }) => firstOrganization.create()))).filter(
      (key) => key !== null,
    );
    expect(keys).toHaveLength(1);
    const { organizationId, key } = keys[0]!;
    const principal = await startProcess(empty).authenticate.execute(key);
    expect([...principal.capabilities].sort()).toEqual(['chat', 'manageAgents', 'manageApiKeys']);
    expect(principal).toMatchObject({ kind: 'api_key', organizationId, agentIds: null });
    expect(await startProcess(empty).directory.find(organizationId)).toMatchObject({ name: 'Default', plan: 'free' });
    await empty.close();
  });

  it('does nothing when an organization exists', async () => {
    const process = startProcess();
    await process.createOrganization.execute({ name: 'Acme' });
    expect(await process.firstOrganization.create()).toBeNull();
  });
});

describe('authentication', () => {
  it('refuses a malformed key, or one with a wrong checksum, without a statement', async () => {
    const { authenticate } = startProcess();
    const wrong = formatApiKey(new Uint8Array(32).fill(1)).slice(0, -1).concat('!');
    const checksum = formatApiKey(new Uint8Array(32).fill(1)).slice(0, -6).concat('000000');
    for (const text of ['ak_x', wrong, checksum, "' or 1=1 --"]) {
      expect(await statementsOf(() => expect(authenticate.execute(text)).rejects.toThrow(ApiKeyInvalid))).toBe(0);
    }
  });

  it('costs one statement for a hot key, also with many concurrent requests', async () => {
    const process = startProcess();
    const { key } = await withKey(process);
    const burst = () => Promise.all(Array.from({ length: 50 }, () => process.authenticate.execute(key)));
    expect(await statementsOf(burst)).toBe(1);
    expect(await statementsOf(burst)).toBe(0);
  });

  it('costs one statement for an unknown key', async () => {
    const { authenticate } = startProcess();
    const key = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
    const attempt = () => expect(authenticate.execute(key)).rejects.toThrow(ApiKeyInvalid);
    expect(await statementsOf(() => Promise.all([attempt(), attempt()]))).toBe(1);
    expect(await statementsOf(attempt)).toBe(0);
  });

  it('refuses a revoked key at once in the process that revoked it, and within five seconds in every other', async () => {
    const here = startProcess();
    const there = startProcess();
    const { keyId, key } = await withKey(here);
    await here.authenticate.execute(key);
    await there.authenticate.execute(key);
    await here.revokeApiKey.execute(undefined, keyId);
    await expect(here.authenticate.execute(key)).rejects.toThrow(ApiKeyInvalid);
    await there.clock.advance(5_000);
    await expect(there.authenticate.execute(key)).rejects.toThrow(ApiKeyInvalid);
  });

  it('refuses a key from the moment it expires, also when it is cached', async () => {
    const process = startProcess();
    const { key } = await withKey(process, { expiresAt: new Date(process.clock.now().getTime() + 1_000) });
    await process.clock.advance(999);
    await process.authenticate.execute(key);
    await process.clock.advance(1);
    expect(await statementsOf(() => expect(process.authenticate.execute(key)).rejects.toThrow(ApiKeyInvalid))).toBe(0);
  });

  it('returns the allowlist', async () => {
    const process = startProcess();
    const { agentId } = process.agent;
    const { key } = await withKey(process, { agentIds: [agentId.toUpperCase()] });
    expect((await process.authenticate.execute(key)).agentIds).toEqual(new Set([agentId]));
  });
});

describe('a key', () => {
  it('is stored as its digest and its last four characters', async () => {
    const { key, organizationId } = await withKey(startProcess());
    const [row] = await open.database.query<{ text: string }>(
      'select row_to_json(api_keys)::text as text from api_keys where organization_id = $1',
      [organizationId],
    );
    expect(row!.text).not.toContain(key.slice(3, 20));
    expect(row!.text).toContain(`"last4":"${key.slice(-4)}"`);
  });

  it('has a last use with a precision of a minute, which is written before the process stops', async () => {
    const process = startProcess();
    const { key, organizationId } = await withKey(process);
    const lastUsed = async () => (await process.storedKey(organizationId))[0]!.lastUsedAt;
    const first = process.clock.now();
    await process.authenticate.execute(key);
    expect(await lastUsed()).toBeNull();
    await process.uses.flush();
    expect(await lastUsed()).toEqual(first);
    await process.clock.advance(30_000);
    await process.authenticate.execute(key);
    expect(await statementsOf(() => process.uses.flush())).toBe(0);
    await process.clock.advance(40_000);
    await process.authenticate.execute(key);
    await process.uses.beforeApplicationShutdown();
    expect(await lastUsed()).toEqual(process.clock.now());
  });

  it('is refused without a capability, with an unknown one, an empty allowlist, an unknown agent or an expiry in the past', async () => {
    const process = startProcess();
    const { organization, owner } = await process.createOrganization.execute({ name: 'Acme' });
    const caller = principal(organization.id, owner.id, newId(), ['chat', 'manageApiKeys']);
    const issue = (request: object) =>
      process.issueApiKey.byCaller(caller, { name: 'k', capabilities: ['chat'], ...request });
    await expect(issue({ capabilities: [] })).rejects.toThrow(/capabilities/);
    await expect(issue({ capabilities: ['chat', 'fly'] })).rejects.toThrow(/capabilities/);
    await expect(issue({ agentIds: [] })).rejects.toThrow(/agentIds/);
    await expect(issue({ agentIds: [newId()] })).rejects.toThrow(/agentIds/);
    await expect(issue({ expiresAt: process.clock.now() })).rejects.toThrow(/expiresAt/);
    await expect(issue({ name: '' })).rejects.toThrow(/name/);
    expect(await process.storedKey(organization.id)).toEqual([]);
  });

  it('never has a capability that the key of its issuer lacks', async () => {
    const process = startProcess();
    const { organizationId, ownerId, keyId } = await withKey(process);
    const caller = principal(organizationId, ownerId, keyId, ['chat', 'manageApiKeys']);
    await expect(
      process.issueApiKey.byCaller(caller, { name: 'k', capabilities: ['chat', 'manageAgents'] }),
    ).rejects.toMatchObject({ code: 'forbidden_by_key_role' });
    const { record } = await process.issueApiKey.byCaller(caller, { name: 'k', capabilities: ['chat'] });
    expect(record).toMatchObject({ memberId: ownerId, organizationId, capabilities: ['chat'] });
  });

  it('is issued by an owner or an admin', async () => {
    const process = startProcess();
    const { organizationId, keyId } = await withKey(process);
    for (const [role, allowed] of [
      ['admin', true],
      ['member', false],
    ] as const) {
      const { id } = await process.addMember.execute(organizationId, { email: `${role}@acme.test`, role });
      const issue = process.issueApiKey.byCaller(principal(organizationId, id, keyId, ['chat', 'manageApiKeys']), {
        name: 'k',
        capabilities: ['chat'],
      });
      if (allowed) expect((await issue).record.memberId).toBe(id);
      else await expect(issue).rejects.toMatchObject({ code: 'forbidden_by_key_role' });
    }
  });

  it('cannot be revoked by another organization, which gets the same error as for an invented key', async () => {
    const process = startProcess();
    const { keyId, key } = await withKey(process);
    const { organization: other } = await process.createOrganization.execute({ name: 'Other' });
    await expect(process.revokeApiKey.execute(other.id, keyId)).rejects.toThrow(ApiKeyNotFound);
    await expect(process.revokeApiKey.execute(other.id, newId())).rejects.toThrow(ApiKeyNotFound);
    await process.authenticate.execute(key);
  });
});

describe('a member', () => {
  it('is unique in an organization, whatever the case of the address', async () => {
    const process = startProcess();
    const { organization } = await process.createOrganization.execute({ name: 'Acme' });
    const { organization: other } = await process.createOrganization.execute({ name: 'Other' });
    await process.addMember.execute(organization.id, { email: 'Ann@acme.test', role: 'admin' });
    await expect(
      process.addMember.execute(organization.id, { email: 'ann@ACME.test', role: 'member' }),
    ).rejects.toMatchObject({
      code: 'member_exists',
    });
    await process.addMember.execute(other.id, { email: 'ann@acme.test', role: 'admin' });
  });

  it('needs an organization, an address and a known role', async () => {
    const { addMember } = startProcess();
    const add = (email: string, role: string) => addMember.execute(newId(), { email, role });
    await expect(add('a@b', 'owner')).rejects.toThrow(OrganizationNotFound);
    await expect(add('a b@c', 'owner')).rejects.toThrow(/email/);
    await expect(add('a@b', 'king')).rejects.toThrow(/owner, admin, member/);
  });
});

describe('an organization', () => {
  it('is read with its features and limits, and a change is visible at once in the process that made it', async () => {
    const process = startProcess();
    const { organization } = await process.createOrganization.execute({
      name: 'Acme',
      plan: 'enterprise',
      agentLimit: 3,
    });
    expect(await process.directory.find(organization.id)).toEqual({
      id: organization.id,
      name: 'Acme',
      plan: 'enterprise',
      features: new Set(['ai_gateway', 'session_start_hook']),
      agentLimit: 3,
      crawlPages: 500,
      creditsIncluded: null,
      hipaaUntil: null,
      creditsExhausted: 'allow',
      createdAt: organization.createdAt,
    });
    await process.updateOrganization.execute(organization.id, { features: ['hipaa', '-ai_gateway'], agentLimit: null });
    const changed = await process.directory.find(organization.id);
    expect(changed).toMatchObject({ plan: 'enterprise', agentLimit: null });
    expect(changed!.features).toEqual(new Set(['hipaa', 'session_start_hook']));
    await process.updateOrganization.execute(organization.id, { features: ['knowledge_search'] });
    expect((await process.directory.find(organization.id))!.features).toEqual(
      new Set(['ai_gateway', 'knowledge_search', 'session_start_hook']),
    );
  });

  it('is cached for seconds', async () => {
    const process = startProcess();
    const { organization } = await process.createOrganization.execute({ name: 'Acme' });
    const elsewhere = startProcess();
    await elsewhere.directory.find(organization.id);
    await process.updateOrganization.execute(organization.id, { plan: 'team' });
    expect(await elsewhere.directory.find(organization.id)).toMatchObject({ plan: 'free' });
    await elsewhere.clock.advance(5_000);
    expect(await elsewhere.directory.find(organization.id)).toMatchObject({ plan: 'team' });
  });

  it('keeps its settings when one of the new ones is wrong', async () => {
    const process = startProcess();
    const { organization } = await process.createOrganization.execute({ name: 'Acme' });
    const update = (settings: object) => process.updateOrganization.execute(organization.id, settings);
    await expect(update({ plan: 'team', features: ['telepathy'] })).rejects.toThrow(/telepathy/);
    await expect(update({ plan: 'gold' })).rejects.toThrow(/free, team, enterprise/);
    await expect(update({ agentLimit: -1 })).rejects.toThrow(/agentLimit/);
    await expect(process.updateOrganization.execute(newId(), {})).rejects.toThrow(OrganizationNotFound);
    expect(await process.directory.find(organization.id)).toMatchObject({ plan: 'free' });
    expect(await process.directory.find(newId())).toBeNull();
  });
});

function principal(
  organizationId: string,
  memberId: string,
  keyId: string,
  capabilities: readonly Capability[],
): ApiKeyPrincipal {
  return { kind: 'api_key', keyId, organizationId, memberId, capabilities: new Set(capabilities), agentIds: null };
}
