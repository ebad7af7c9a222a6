import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ToolDefinition } from '../../models/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged, IntegrationChecked } from '../domain/integrations.events.js';
import { identityOf, type Integration } from '../domain/integration.js';
import type { ListedTool } from '../domain/tool-list.js';
import type { ServerTool } from '../domain/tool-name.js';
import {
  AGENT_TOOLS_CACHE_ENTRIES,
  AGENT_TOOLS_CACHE_MS,
  MAX_AGENT_TOOL_BYTES,
  MAX_AGENT_TOOLS,
  TOOL_LISTS_CACHE_BYTES,
} from '../limits.js';
import {
  type IntegrationOfAgent,
  IntegrationStateRepository,
  type StoredList,
} from '../persistence/integration-state.repository.js';
import { NameAgentTools } from './name-agent-tools.js';

/** A tool of a server under the name that the model sees. */
export interface AgentTool {
  readonly integration: Integration;
  readonly tool: ListedTool;
  readonly definition: ToolDefinition;
}

/** What an agent has of integrations. */
export interface AgentToolSet {
  readonly integrations: readonly IntegrationOfAgent[];
  /** Those of the last successful listings without the excluded ones, each name once. */
  readonly tools: readonly AgentTool[];
}

interface NamedTools {
  /** Of all that names and tools come from. */
  readonly version: string;
  readonly tools: readonly AgentTool[];
}

/**
 * The tools of agents, kept for seconds: every run asks. What this process changes shows at once, what another one
 * changes within the seconds. Lists are kept by their content, so that asking again costs one statement and no list;
 * and as long as nothing has changed the definitions are the same objects, by which runs know what they have computed of them.
 */
@Injectable()
export class AgentTools {
  private readonly byAgent: TtlCache<readonly IntegrationOfAgent[]>;
  private readonly named = new LRUCache<string, NamedTools>({ maxSize: TOOL_LISTS_CACHE_BYTES });
  private readonly lists = new LRUCache<string, StoredList>({ maxSize: TOOL_LISTS_CACHE_BYTES });

  constructor(
    private readonly states: IntegrationStateRepository,
    private readonly nameTools: NameAgentTools,
    private readonly logger: Logger,
    clock: Clock,
    events: EventBus,
  ) {
    this.byAgent = new TtlCache({ clock, ttlMs: AGENT_TOOLS_CACHE_MS, maxEntries: AGENT_TOOLS_CACHE_ENTRIES });
    for (const event of [IntegrationChanged, IntegrationChecked]) {
      events.subscribe<IntegrationChanged | IntegrationChecked>(event, ({ organizationId, agentIds }) => {
        for (const agentId of agentIds) this.byAgent.delete(keyOf(organizationId, agentId));
      });
    }
  }

  async of(organizationId: string, agentId: string): Promise<AgentToolSet> {
    const integrations = await this.integrationsOf(organizationId, agentId);
    return { integrations, tools: await this.toolsOf(organizationId, agentId, withinLimits(integrations)) };
  }

  /** What the agent uses now, in the order in which it was attached. */
  async integrationsOf(organizationId: string, agentId: string): Promise<readonly IntegrationOfAgent[]> {
    const load = (): Promise<readonly IntegrationOfAgent[]> => this.load(organizationId, agentId);
    return (await this.byAgent.get(keyOf(organizationId, agentId), load)) ?? load();
  }

  /** The last successful listing of the integration's server, excluded tools included; null where there was none. */
  async listOf(checked: IntegrationOfAgent): Promise<StoredList | null> {
    const { integration, state } = checked;
    if (!state) return null;
    const { id, organizationId } = integration;
    const known = this.lists.get(`${id}/${state.toolsDigest}`);
    if (known) return known;
    const list = await this.states.list(organizationId, id);
    if (list) this.lists.set(`${id}/${list.toolsDigest}`, list, { size: 1 + bytesOf(checked) });
    return list;
  }

  private async load(organizationId: string, agentId: string): Promise<readonly IntegrationOfAgent[]> {
    const integrations = await this.states.ofAgent(organizationId, agentId);
    const offered = withinLimits(integrations).length;
    if (offered < integrations.length) {
      this.logger.warn(
        { agentId, integrations: integrations.length, offered },
        'An agent has more tools than it can be offered',
      );
    }
    return integrations;
  }

  private async toolsOf(
    organizationId: string,
    agentId: string,
    integrations: readonly IntegrationOfAgent[],
  ): Promise<readonly AgentTool[]> {
    const version = versionOf(integrations.map((checked) => [checked, checked.state?.toolsDigest]));
    const known = this.named.get(agentId);
    if (known?.version === version) return known.tools;
    const lists = await Promise.all(integrations.map((checked) => this.listOf(checked)));
    const offered = offeredTools(
      integrations.map(({ integration }, index) => ({ integration, tools: lists[index]?.tools ?? [] })),
    );
    const tools = withNames(offered, await this.nameTools.execute(organizationId, agentId, offered.map(toServerTool)));
    // A list may have changed while it was read, and is another version then.
    const read = versionOf(integrations.map((checked, index) => [checked, lists[index]?.toolsDigest]));
    if (read === version) this.named.set(agentId, { version, tools }, { size: 1 + sum(integrations.map(bytesOf)) });
    return tools;
  }
}

/** Includes the time of the attachment: after an integration was detached and attached again, its tools may have other names. */
function versionOf(parts: readonly (readonly [IntegrationOfAgent, string | undefined])[]): string {
  return JSON.stringify(
    parts.map(
      ([
        {
          integration: { id, revision },
          attachedAt,
        },
        digest,
      ]) => [id, attachedAt, revision, digest],
    ),
  );
}

function bytesOf({ state }: IntegrationOfAgent): number {
  return state?.toolsBytes ?? 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** From the first on, as long as there is room. */
function withinLimits(integrations: readonly IntegrationOfAgent[]): IntegrationOfAgent[] {
  let bytes = 0;
  let count = 0;
  return integrations.filter(({ state }) => {
    const { toolsBytes = 0, toolsCount = 0 } = state ?? {};
    const fits = bytes + toolsBytes <= MAX_AGENT_TOOL_BYTES && count + toolsCount <= MAX_AGENT_TOOLS;
    if (fits) [bytes, count] = [bytes + toolsBytes, count + toolsCount];
    return fits;
  });
}

interface Listed {
  readonly integration: Integration;
  readonly tools: readonly ListedTool[];
}

type Offered = Omit<AgentTool, 'definition'>;

function offeredTools(lists: readonly Listed[]): Offered[] {
  return lists.flatMap(({ integration, tools }) => {
    const excluded = new Set(integration.excludedTools);
    return tools.filter(({ name }) => !excluded.has(name)).map((tool) => ({ integration, tool }));
  });
}

function toServerTool({ integration: { id: integrationId, settings }, tool: { name: tool } }: Offered): ServerTool {
  return { integrationId, identity: identityOf(settings), tool };
}

function withNames(tools: readonly Offered[], names: readonly string[]): AgentTool[] {
  return tools.map(({ integration, tool }, index) => {
    const { description, inputSchema } = tool;
    return { integration, tool, definition: { name: names[index] ?? '', description, inputSchema } };
  });
}

function keyOf(organizationId: string, agentId: string): string {
  return `${organizationId}/${agentId}`;
}
