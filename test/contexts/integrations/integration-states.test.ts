import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AgentTools } from '../../../src/integrations/application/agent-tools.js';
import { CheckIntegration } from '../../../src/integrations/application/check-integration.js';
import type { Integration } from '../../../src/integrations/domain/integration.js';
import { IntegrationChecked } from '../../../src/integrations/domain/integrations.events.js';
import type { IntegrationState, ListedTool } from '../../../src/integrations/domain/tool-list.js';
import { IntegrationRepository } from '../../../src/integrations/persistence/integration.repository.js';
import { IntegrationStateRepository } from '../../../src/integrations/persistence/integration-state.repository.js';
import type { ToolDefinition } from '../../../src/models/index.js';
import { EventBus } from '../../../src/platform/events/index.js';
import { useService } from '../../support/harness.js';
import { statementsOf } from '../../support/statements.js';
import { customMcp, Integrations, workflow } from './support.js';

const service = useService();
let integrations: Integrations;
let organizationId: string;

const states = (): IntegrationStateRepository => service.app.get(IntegrationStateRepository, { strict: false });

function tool(name: string): ListedTool {
  return { name, description: `Does ${name}`, inputSchema: { type: 'object', properties: {} }, readOnly: false };
}

function connected(revision: number, ...names: string[]): IntegrationState {
  return {
    revision,
    status: 'connected',
    error: null,
    tools: names.map(tool),
    checkedAt: new Date('2026-01-02T03:04:05.678Z'),
  };
}

async function stored(id: string): Promise<Integration> {
  const found = await service.app.get(IntegrationRepository, { strict: false }).find(organizationId, id);
  if (!found) throw new Error('The integration does not exist');
  return found;
}

async function toolsOf({ id }: Integration): Promise<readonly ListedTool[]> {
  return (await states().find(organizationId, id))?.tools ?? [];
}

async function made(): Promise<Integration> {
  return stored((await integrations.created(customMcp({ excludedTools: ['b'] }))).id);
}

beforeEach(async () => {
  integrations = await Integrations.start(service);
  organizationId = integrations.organization.id;
});

describe('the state of a server', () => {
  it('is returned with its tools in their order and marks for excluded ones', async () => {
    const integration = await made();
    await states().save(integration, connected(1, 'c', 'a', 'b'));
    const shown = {
      status: 'connected',
      error: null,
      tools: ['c', 'a', 'b'].map((name) => ({ name, description: `Does ${name}`, excluded: name === 'b' })),
    };
    expect((await integrations.read(integration.id)).body).toMatchObject(shown);
    expect((await integrations.list()).body.integrations).toMatchObject([shown]);
    const attached = await integrations.create(customMcp({ excludedTools: ['b'] }), {
      agentId: integrations.otherAgentId,
    });
    expect([attached.status, attached.body]).toMatchObject([201, shown]);
  });

  it('is not returned after a change of the integration, until the server is checked again', async () => {
    const integration = await made();
    await service.database.query('update tool_integrations set revision = 2 where id = $1', [integration.id]);
    await states().save(await stored(integration.id), connected(2, 'a'));
    await service.database.query('update tool_integrations set revision = 3 where id = $1', [integration.id]);
    expect((await integrations.read(integration.id)).body).toMatchObject({
      status: 'error',
      error: 'Not connected yet.',
      tools: [],
    });
  });

  it('is "not connected" without a check', async () => {
    const { id } = await made();
    await service.database.query('delete from tool_integration_states where integration_id = $1', [id]);
    expect((await integrations.read(id)).body).toMatchObject({
      status: 'error',
      error: 'Not connected yet.',
      tools: [],
    });
  });

  it('includes whole tools for runs, and keeps its digest as long as the list is the same', async () => {
    const integration = await made();
    const digest = async (): Promise<string | undefined> =>
      (await states().listForAgent(organizationId, integrations.agentId))[0]?.state?.toolsDigest;
    await states().save(integration, connected(1, 'a'));
    const first = await digest();
    expect(await states().find(organizationId, integration.id)).toMatchObject(connected(1, 'a'));
    expect(await toolsOf(integration)).toEqual([tool('a')]);
    await states().save(integration, { ...connected(1, 'a'), status: 'error', error: 'Away.' });
    expect(await digest()).toBe(first);
    expect(await states().find(organizationId, integration.id)).toMatchObject({
      status: 'error',
      error: 'Away.',
      tools: [tool('a')],
    });
    await states().save(integration, connected(1, 'a', 'b'));
    expect(await digest()).not.toBe(first);
    expect(await toolsOf(integration)).toEqual([tool('a'), tool('b')]);
  });
});

describe('a check without a list of tools', () => {
  const failed = (revision: number) => ({
    ...connected(revision),
    status: 'error' as const,
    error: 'Away.',
    tools: null,
  });

  it('keeps and returns the stored list, even one that was stored during the check', async () => {
    const integration = await made();
    await states().save(integration, connected(1, 'a', 'b'));
    const before = (await states().listForAgent(organizationId, integrations.agentId))[0]?.state;
    const { overview: shown } = await states().save(integration, failed(1));
    const tools = ['a', 'b'].map((name) => ({ name, description: `Does ${name}` }));
    expect(shown).toEqual({ revision: 1, status: 'error', error: 'Away.', tools });
    expect(await states().find(organizationId, integration.id)).toMatchObject({
      ...failed(1),
      tools: [tool('a'), tool('b')],
    });
    expect((await states().listForAgent(organizationId, integrations.agentId))[0]?.state).toEqual({
      ...before,
      status: 'error',
      error: 'Away.',
    });
  });

  it('has no tools if none are stored', async () => {
    const integration = await made();
    await service.database.query('delete from tool_integration_states where integration_id = $1', [integration.id]);
    expect((await states().save(integration, failed(1))).overview).toMatchObject({ status: 'error', tools: [] });
    expect(await states().find(organizationId, integration.id)).toMatchObject({ ...failed(1), tools: [] });
  });

  it('neither reads nor writes a list', async () => {
    const integration = await made();
    await states().save(integration, connected(1, 'a'));
    const [reading, saving] = [jest.spyOn(states(), 'find'), jest.spyOn(states(), 'save')];
    await service.app.get(CheckIntegration, { strict: false }).execute(integration);
    expect(reading).not.toHaveBeenCalled();
    expect(saving).toHaveBeenCalledWith(integration, expect.objectContaining({ status: 'error', tools: null }));
    expect(await toolsOf(integration)).toEqual([tool('a')]);
    jest.restoreAllMocks();
  });
});

describe('the tools that are offered to runs', () => {
  const agentTools = (): AgentTools => service.app.get(AgentTools, { strict: false });
  const offered = async (): Promise<readonly ToolDefinition[]> =>
    (await agentTools().of(organizationId, integrations.agentId)).tools.map(({ definition }) => definition);
  const forget = ({ id }: Integration): void =>
    service.app
      .get(EventBus, { strict: false })
      .publish(new IntegrationChecked(organizationId, id, [integrations.agentId]));

  it('are the same objects until something changes', async () => {
    const integration = await made();
    await states().save(integration, connected(1, 'a', 'c'));
    forget(integration);
    const [first] = await offered();
    forget(integration);
    expect((await offered())[0]).toBe(first);
    await states().save(integration, connected(1, 'a', 'd'));
    forget(integration);
    expect((await offered()).map(({ name }) => name)).toEqual(['mcp__tickets__a', 'mcp__tickets__d']);
    await integrations.put(integration.id, customMcp({ excludedTools: ['a'] }));
    await states().save(await stored(integration.id), connected(2, 'a', 'd'));
    forget(integration);
    expect((await offered()).map(({ name }) => name)).toEqual(['mcp__tickets__d']);
  });

  it('are those of the current list, even if it changed during the read and changed back', async () => {
    const integration = await made();
    await states().save(integration, connected(1, 'old'));
    const before = await states().listForAgent(organizationId, integrations.agentId);
    await states().save(integration, connected(1, 'new'));
    jest.spyOn(states(), 'listForAgent').mockResolvedValueOnce(before);
    forget(integration);
    await offered();
    await states().save(integration, connected(1, 'old'));
    forget(integration);
    expect((await offered()).map(({ name }) => name)).toEqual(['mcp__tickets__old']);
  });
});

describe('an outdated state', () => {
  it('is not stored after a change of the integration', async () => {
    const before = await made();
    await integrations.put(before.id, customMcp({ excludedTools: [] }));
    const after = await stored(before.id);
    await states().save(after, connected(2, 'new'));
    await states().save(before, connected(1, 'old'));
    expect(await toolsOf(before)).toEqual([tool('new')]);
  });

  it('is not stored after a change, even if no state is stored', async () => {
    const before = await made();
    await integrations.put(before.id, customMcp({ excludedTools: [] }));
    await service.database.query('delete from tool_integration_states where integration_id = $1', [before.id]);
    await states().save(before, connected(1, 'old'));
    expect(await states().find(organizationId, before.id)).toBeNull();
  });

  it('is not stored for a removed integration or that of another organization', async () => {
    const integration = await made();
    const stranger = await service.organization();
    await states().save({ ...integration, organizationId: stranger.id }, connected(1, 'foreign'));
    expect(await toolsOf(integration)).toEqual([]);
    expect(await states().find(stranger.id, integration.id)).toBeNull();
    await integrations.remove(integration.id);
    await states().save(integration, connected(1, 'old'));
    expect(await states().find(organizationId, integration.id)).toBeNull();
  });
});

describe('the integrations of an agent', () => {
  it('are read with one statement, in the order of attachment, without the tools', async () => {
    const first = await made();
    const { id } = await integrations.created(workflow());
    await states().save(first, connected(1, 'a'));
    const ofAgent = () => states().listForAgent(organizationId, integrations.agentId);
    expect(await statementsOf(service.database, ofAgent)).toHaveLength(1);
    const used = await ofAgent();
    expect(used.map(({ integration }) => integration)).toEqual([first, await stored(id)]);
    expect(used[0]?.state).toEqual({
      ...{
        revision: 1,
        status: 'connected',
        error: null,
        toolsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
        toolsBytes: expect.any(Number),
        toolsCount: expect.any(Number),
      },
      checkedAt: connected(1).checkedAt,
    });
    expect(await states().listForAgent(organizationId, integrations.otherAgentId)).toEqual([]);
    expect(await states().listForAgent((await service.organization()).id, integrations.agentId)).toEqual([]);
  });
});
