import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/support/manual-clock.js';
import { openTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { accessContext, type OrganizationDirectory, ResourceLookups } from '../../access/index.js';
import type { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Outbox } from '../../platform/jobs/index.js';
import { MasterKey, MasterKeys, Vault, vaultSchema } from '../../platform/vault/index.js';
import type { Agent } from '../domain/agent.js';
import { AgentNotFound } from '../domain/agents.errors.js';
import { AgentVersionsRepository } from '../persistence/agent-versions.repository.js';
import { AgentsRepository } from '../persistence/agents.repository.js';
import { agentsSchema } from '../persistence/agents.schema.js';
import { AgentDirectory, AssistantLookup, ManagedAgentLookup } from './agent-directory.js';
import { ChangeAgent } from './change-agent.js';
import { CreateAgent } from './create-agent.js';
import { DeleteAgent } from './delete-agent.js';
import { PlanLimits } from './plan-limits.js';
import { VersionedParts } from './versioned-parts.js';
import { VersionedWrite } from './versioned-write.js';

/** Counts reads of the database. */
class CountingRepository extends AgentsRepository {
  reads = 0;

  override find(organizationId: string, id: string): Promise<Agent | null> {
    this.reads += 1;
    return super.find(organizationId, id);
  }
}

/** The use cases of one process on a shared database. */
function processOn(database: Database, key: MasterKey) {
  const clock = new ManualClock();
  const events = new EventBus();
  const agents = new CountingRepository(database);
  const vault = new Vault(database, MasterKeys.of(key), clock);
  const view = { name: 'Any', plan: 'free', features: new Set(), agentLimit: null } as const;
  const organizations = { find: (id: string) => Promise.resolve({ ...view, id }) } as unknown as OrganizationDirectory;
  const planLimits = new PlanLimits(organizations);
  const versions = new AgentVersionsRepository(database);
  const outbox = { enqueue: () => Promise.resolve() } as unknown as Outbox;
  const writes = new VersionedWrite(database, agents, versions, new VersionedParts(), clock, events);
  return {
    clock,
    agents,
    directory: new AgentDirectory(agents, vault, clock, events),
    create: new CreateAgent(database, agents, planLimits, vault, versions, clock),
    change: new ChangeAgent(writes, planLimits, vault),
    remove: new DeleteAgent(database, agents, vault, outbox, events),
  };
}

const changedBy = { type: 'operator' } as const;

let open: TestDatabase;
let here: ReturnType<typeof processOn>;
let elsewhere: ReturnType<typeof processOn>;
let organizationId: string;

beforeAll(async () => {
  open = await openTestDatabase([vaultSchema, accessContext.schema, agentsSchema]);
});

afterAll(async () => {
  await open.close();
});

beforeEach(async () => {
  const key = new MasterKey(randomBytes(32));
  here = processOn(open.database, key);
  elsewhere = processOn(open.database, key);
  organizationId = newId();
  await open.database.query(
    `insert into organizations (id, name, plan, features, created_at) values ($1, 'Any', 'free', '{}', now())`,
    [organizationId],
  );
});

async function agentWithKey(apiKey: string): Promise<Agent> {
  return here.create.execute(organizationId, changedBy, {
    name: 'Ada',
    provider: { type: 'gemini', useOwnApiKey: true, apiKey },
  });
}

describe('an agent that a run needs', () => {
  it('costs the database one read in five seconds, however many runs need it', async () => {
    const { id } = await agentWithKey('k');
    const asked = await Promise.all([here.directory.find(organizationId, id), here.directory.find(organizationId, id)]);
    await here.clock.advance(4_999);
    asked.push(await here.directory.find(organizationId, id));
    expect(asked.map((agent) => agent?.name)).toEqual(['Ada', 'Ada', 'Ada']);
    expect(here.agents.reads).toBe(1);
    await here.clock.advance(1);
    await here.directory.find(organizationId, id);
    expect(here.agents.reads).toBe(2);
  });

  it('is changed and deleted at once in the process that did it, and within five seconds in others', async () => {
    const { id } = await agentWithKey('k');
    const names = async (): Promise<unknown[]> => [
      (await here.directory.find(organizationId, id))?.name,
      (await elsewhere.directory.find(organizationId, id))?.name,
    ];
    expect(await names()).toEqual(['Ada', 'Ada']);
    await here.change.execute({ organizationId, agentId: id, changedBy }, { name: 'Grace' });
    expect(await names()).toEqual(['Grace', 'Ada']);
    await elsewhere.clock.advance(5_000);
    expect(await names()).toEqual(['Grace', 'Grace']);
    await here.remove.execute(organizationId, id);
    expect(await names()).toEqual([undefined, 'Grace']);
    await elsewhere.clock.advance(5_000);
    expect(await names()).toEqual([undefined, undefined]);
  });

  it('does not exist for other organizations', async () => {
    const { id } = await agentWithKey('k');
    await here.directory.find(organizationId, id);
    expect(await here.directory.find(newId(), id)).toBeNull();
  });
});

describe('an agent of another organization', () => {
  it('can be neither changed nor deleted, also without the access guard', async () => {
    const { id } = await agentWithKey('sk-own');
    const stranger = newId();
    await expect(
      here.change.execute({ organizationId: stranger, agentId: id, changedBy }, { name: 'Mine' }),
    ).rejects.toThrow(AgentNotFound);
    await expect(here.remove.execute(stranger, id)).rejects.toThrow(AgentNotFound);
    expect(await here.agents.findMany(stranger, [id])).toEqual([]);
    expect(await here.agents.list(stranger, new Set([id]))).toEqual([]);
    expect(await here.directory.find(organizationId, id)).toMatchObject({ name: 'Ada', version: 1 });
    expect(await here.directory.ownApiKey(organizationId, id)).toBe('sk-own');
  });
});

describe('an own key', () => {
  it('is read from the vault and cached no longer than the agent', async () => {
    const { id } = await agentWithKey('sk-own');
    expect(await here.directory.ownApiKey(organizationId, id)).toBe('sk-own');
    const before = open.database.statementCount;
    expect(await here.directory.ownApiKey(organizationId, id)).toBe('sk-own');
    expect(open.database.statementCount).toBe(before);
    await here.remove.execute(organizationId, id);
    await expect(here.directory.ownApiKey(organizationId, id)).rejects.toThrow('There is no secret');
    await elsewhere.clock.advance(5_000);
    await expect(elsewhere.directory.ownApiKey(organizationId, id)).rejects.toThrow('There is no secret');
  });

  it('leaves no row behind when its agent is deleted', async () => {
    const { id } = await agentWithKey('sk-own');
    await here.remove.execute(organizationId, id);
    expect(await open.database.query('select field from secrets where record_id = $1', [id])).toEqual([]);
  });
});

describe('the lookups of the access guard', () => {
  it('find a classic agent as an assistant and not as a managed agent', async () => {
    const { id } = await agentWithKey('k');
    const lookups = new ResourceLookups();
    const managed = new ManagedAgentLookup(here.directory, lookups);
    const assistants = new AssistantLookup(here.directory, lookups);
    expect(await managed.find(organizationId, id)).toMatchObject({ agentId: id });
    await open.database.query(`update agents set type = 'classic' where id = $1`, [id]);
    await here.clock.advance(5_000);
    expect(await managed.find(organizationId, id)).toBeNull();
    expect(await assistants.find(organizationId, id)).toMatchObject({ agentId: id, type: 'classic' });
    expect([managed.kind, assistants.kind]).toEqual(['agent', 'assistant']);
  });
});
