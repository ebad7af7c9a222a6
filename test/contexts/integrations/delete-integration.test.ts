import { beforeEach, describe, expect, it } from '@jest/globals';
import { AgentDataHolders, type DeletedAgent } from '../../../src/agents/index.js';
import { deletedAgentsIn } from '../../../src/agents/persistence/deleted-agents.sql.js';
import { RemoveIntegrationsOfDeletedAgents } from '../../../src/integrations/application/remove-integrations-of-deleted-agents.js';
import { LOCAL_APP, useAppCatalogue } from '../../support/app-catalogue.js';
import { until, useService } from '../../support/harness.js';
import { customMcp, Integrations, NO_ROWS, SECRET, workflow } from './support.js';

const service = useService({ environment: useAppCatalogue() });
let integrations: Integrations;
let otherAgent: { readonly agentId: string };

beforeEach(async () => {
  integrations = await Integrations.start(service);
  otherAgent = { agentId: integrations.otherAgentId };
});

function deleteAgent(agentId: string) {
  return service.http('DELETE', `/v1/agents/${agentId}`, { key: integrations.organization.key });
}

describe('a removed integration', () => {
  it('is detached from the agent, and deleted with its secrets and state after the last agent', async () => {
    const first = await integrations.created(customMcp());
    await integrations.created(customMcp(), otherAgent);
    const removed = await integrations.remove(first.id);
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect((await integrations.read(first.id)).status).toBe(404);
    expect((await integrations.read(first.id, otherAgent)).body).toEqual(first);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 1 });
    expect((await integrations.remove(first.id)).status).toBe(404);
    expect((await integrations.remove(first.id, otherAgent)).status).toBe(204);
    expect(await integrations.rows()).toEqual(NO_ROWS);
  });

  it('can be created again with the same name', async () => {
    const { id } = await integrations.created(customMcp());
    await integrations.remove(id);
    const next = await integrations.created(customMcp({ httpHeaders: { 'X-Key': { type: 'secret', value: 'new' } } }));
    expect(next.id).not.toBe(id);
  });

  it('does not affect other integrations, also those of other organizations', async () => {
    const { id } = await integrations.created(customMcp());
    const stranger = await Integrations.start(service);
    await integrations.created(customMcp({ app: 'Other' }));
    await stranger.created(customMcp());
    await integrations.remove(id);
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, secrets: 1 });
    expect(await stranger.rows()).toMatchObject({ tool_integrations: 1, secrets: 1 });
  });
});

describe('a deleted agent', () => {
  it('loses the integrations that only it used, with their secrets, but none that others use', async () => {
    const { slug, envName } = LOCAL_APP;
    await integrations.created({ type: 'managed-mcp', app: slug, secrets: { envMap: { [envName]: SECRET } } });
    await integrations.created(customMcp());
    const shared = await integrations.created(workflow());
    await integrations.created(workflow(), otherAgent);
    await deleteAgent(integrations.agentId);
    await until(
      async () => (await integrations.rows())['tool_integration_agents'] === 1,
      'its integrations are removed',
    );
    expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, secrets: 0 });
    expect((await integrations.list(otherAgent)).body.integrations.map(({ id }) => id)).toEqual([shared.id]);
  });

  describe('whose integrations still exist', () => {
    /** As between the deletion and its job, or after a crash of the job. */
    async function deletedWithoutJob(agentId: string): Promise<void> {
      await service.database.query('delete from agents where id = $1', [agentId]);
    }

    it('does not count: the next integration of the name replaces the organization’s, without its secrets', async () => {
      const old = await integrations.created(customMcp());
      await deletedWithoutJob(integrations.agentId);
      const next = await integrations.created(
        customMcp({ httpHeaders: { 'X-Key': { type: 'plain_text', value: 'shown' } } }),
        otherAgent,
      );
      expect(next.id).not.toBe(old.id);
      expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 0 });
    });

    it('does not count: keys for the remaining agents can change and remove it', async () => {
      const { id } = await integrations.created(customMcp());
      await integrations.created(customMcp(), otherAgent);
      const { key } = await integrations.organization.keyWith(['manageAgents'], [integrations.otherAgentId]);
      expect((await integrations.put(id, customMcp({ excludedTools: [] }), { ...otherAgent, key })).status).toBe(403);
      await deletedWithoutJob(integrations.agentId);
      expect((await integrations.put(id, customMcp({ excludedTools: [] }), { ...otherAgent, key })).status).toBe(200);
      expect((await integrations.remove(id, otherAgent)).status).toBe(204);
      expect(await integrations.rows()).toEqual(NO_ROWS);
    });

    it('is found by the next clean-up, and existing agents are not', async () => {
      await integrations.created(customMcp());
      await integrations.created(workflow(), otherAgent);
      await deletedWithoutJob(integrations.agentId);
      const holder = service.app
        .get(AgentDataHolders, { strict: false })
        .all.find((one) => one instanceof RemoveIntegrationsOfDeletedAgents);
      if (!holder) throw new Error('No holder removes integrations');
      const { id: organizationId } = integrations.organization;
      const [table = { name: '' }] = holder.tables;
      const found = () => deletedAgentsIn(table).run<DeletedAgent>(service.database, {});
      const left = (await found()).filter((agent) => agent.organizationId === organizationId);
      expect(left).toEqual([{ organizationId, agentId: integrations.agentId }]);
      const { signal } = new AbortController();
      for (const agentId of [integrations.agentId, integrations.agentId, integrations.otherAgentId]) {
        await holder.remove({ organizationId, agentId }, signal);
      }
      expect(await integrations.rows()).toMatchObject({ tool_integrations: 1, tool_integration_agents: 1, secrets: 0 });
      expect(await found()).not.toContainEqual(left[0]);
    });
  });
});
