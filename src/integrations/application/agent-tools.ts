import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { lockAgent } from '../../agents/index.js';
import type { ToolDefinition } from '../../models/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { IntegrationChanged, IntegrationChecked } from '../domain/integrations.events.js';
import { identityOf, type Integration } from '../domain/integration.js';
import type { ListedTool } from '../domain/tool-list.js';
import { nameTools, type ServerTool } from '../domain/tool-name.js';
import {
  AGENT_TOOLS_CACHE_ENTRIES,
  AGENT_TOOLS_CACHE_MS,
  MAX_AGENT_TOOL_BYTES,
  MAX_AGENT_TOOLS,
  TOOL_LISTS_CACHE_BYTES,
} from '../limits.js';
import {
  type AgentIntegration,
  IntegrationStateRepository,
  type StoredList,
} from '../persistence/integration-state.repository.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';

/** A tool of a server under the name that the model sees. */
export interface AgentTool {
  readonly integration: Integration;
  readonly tool: ListedTool;
  readonly definition: ToolDefinition;
}

/** The integrations of an agent and their tools. */
export interface AgentToolSet {
  readonly integrations: readonly AgentIntegration[];
  /**
   * From the last successful listings, without excluded tools. Names are unique. In the order of the integrations, then of the
   * servers' names: a server may list its tools in another order each time, and another order in a request is another prompt to
   * the caches of providers.
   */
  readonly tools: readonly AgentTool[];
}

interface NamedTools {
  /** Identifies the attachments, revisions and lists that the tools come from. */
  readonly version: string;
  readonly tools: readonly AgentTool[];
}

/**
 * The tools of agents, cached for seconds because every run needs them. A change by this process applies at once, one by another
 * process within those seconds. Tool lists are cached by their digest, so a reload costs one statement and reads no list. Unchanged
 * definitions stay the same objects: runs cache by identity what they compute from them.
 */
@Injectable()
export class AgentTools {
  private readonly byAgent: TtlCache<readonly AgentIntegration[]>;
  private readonly named = new LRUCache<string, NamedTools>({ maxSize: TOOL_LISTS_CACHE_BYTES });
  private readonly lists = new LRUCache<string, StoredList>({ maxSize: TOOL_LISTS_CACHE_BYTES });

  constructor(
    private readonly states: IntegrationStateRepository,
    private readonly integrations: IntegrationRepository,
    private readonly database: Database,
    private readonly logger: Logger,
    clock: Clock,
    events: EventBus,
  ) {
    this.byAgent = new TtlCache({ clock, ttlMs: AGENT_TOOLS_CACHE_MS, maxEntries: AGENT_TOOLS_CACHE_ENTRIES });
    for (const event of [IntegrationChanged, IntegrationChecked]) {
      events.subscribe<IntegrationChanged | IntegrationChecked>(event, ({ organizationId, agentIds }) => {
        for (const agentId of agentIds) this.byAgent.delete(cacheKey(organizationId, agentId));
      });
    }
  }

  async of(organizationId: string, agentId: string): Promise<AgentToolSet> {
    const integrations = await this.integrationsOf(organizationId, agentId);
    return { integrations, tools: await this.toolsOf(organizationId, agentId, withinLimits(integrations)) };
  }

  /** The integrations of the agent in the order of attachment. */
  async integrationsOf(organizationId: string, agentId: string): Promise<readonly AgentIntegration[]> {
    const load = (): Promise<readonly AgentIntegration[]> => this.load(organizationId, agentId);
    return (await this.byAgent.get(cacheKey(organizationId, agentId), load)) ?? load();
  }

  /** The last successful listing of the integration's server, with excluded tools; null if there was none. */
  async listOf(checked: AgentIntegration): Promise<StoredList | null> {
    const { integration, state } = checked;
    if (!state) return null;
    const { id, organizationId } = integration;
    const known = this.lists.get(`${id}/${state.toolsDigest}`);
    if (known) return known;
    const list = await this.states.find(organizationId, id);
    if (list) this.lists.set(`${id}/${list.toolsDigest}`, list, { size: 1 + bytesOf(checked) });
    return list;
  }

  private async load(organizationId: string, agentId: string): Promise<readonly AgentIntegration[]> {
    const integrations = await this.states.listForAgent(organizationId, agentId);
    const offered = withinLimits(integrations).length;
    if (offered < integrations.length) {
      this.logger.warn(
        { agentId, integrations: integrations.length, offered },
        'An agent has more tools than the limit: some integrations are left out',
      );
    }
    return integrations;
  }

  private async toolsOf(
    organizationId: string,
    agentId: string,
    integrations: readonly AgentIntegration[],
  ): Promise<readonly AgentTool[]> {
    const version = versionOf(integrations.map((checked) => [checked, checked.state?.toolsDigest]));
    const known = this.named.get(agentId);
    if (known?.version === version) return known.tools;
    const lists = await Promise.all(integrations.map((checked) => this.listOf(checked)));
    const offered = integrations.flatMap(({ integration }, index) => {
      const excluded = new Set(integration.excludedTools);
      const tools = lists[index]?.tools ?? [];
      return tools
        .filter(({ name }) => !excluded.has(name))
        .toSorted(byName)
        .map((tool) => ({ integration, tool }));
    });
    const serverTools = offered.map(({ integration: { id: integrationId, settings }, tool: { name: tool } }) => ({
      ...{ integrationId, identity: identityOf(settings), tool },
    }));
    const names = offered.length === 0 ? [] : await this.namesOf(organizationId, agentId, serverTools);
    const tools = offered.map(({ integration, tool }, index) => {
      const { description, inputSchema } = tool;
      return { integration, tool, definition: { name: names[index] ?? '', description, inputSchema } };
    });
    // If a list has changed since the headers were read, the tools are of another version and are not cached.
    const read = versionOf(integrations.map((checked, index) => [checked, lists[index]?.toolsDigest]));
    const size = integrations.reduce((bytes, checked) => bytes + bytesOf(checked), 1);
    if (read === version) this.named.set(agentId, { version, tools }, { size });
    return tools;
  }

  /** The names under which the model sees the tools, in their order. New names are stored before this returns. */
  private async namesOf(
    organizationId: string,
    agentId: string,
    tools: readonly ServerTool[],
  ): Promise<readonly string[]> {
    const { names, changed } = nameTools(
      await this.integrations.toolNames(this.database, organizationId, agentId),
      tools,
    );
    if (changed.size === 0) return names;
    // The lock on the agent serializes all processes, so that two that offer a new tool at the same time give it one name.
    return this.database.transaction(async (transaction) => {
      await lockAgent(transaction, organizationId, agentId, 'exclusive');
      const stored = await this.integrations.toolNames(transaction, organizationId, agentId);
      const named = nameTools(stored, tools);
      await this.integrations.saveToolNames(transaction, organizationId, agentId, named.changed);
      return named.names;
    });
  }
}

/** Includes the time of the attachment: after an integration was detached and attached again, its tools may have other names. */
function versionOf(parts: readonly (readonly [AgentIntegration, string | undefined])[]): string {
  return JSON.stringify(
    parts.map(([{ integration, attachedAt }, digest]) => [integration.id, attachedAt, integration.revision, digest]),
  );
}

function byName(left: ListedTool, right: ListedTool): number {
  return left.name < right.name ? -1 : 1;
}

function bytesOf({ state }: AgentIntegration): number {
  return state?.toolsBytes ?? 0;
}

/** Takes integrations in order and leaves out those that exceed the limits. */
function withinLimits(integrations: readonly AgentIntegration[]): AgentIntegration[] {
  let bytes = 0;
  let count = 0;
  return integrations.filter(({ state }) => {
    const { toolsBytes = 0, toolsCount = 0 } = state ?? {};
    const fits = bytes + toolsBytes <= MAX_AGENT_TOOL_BYTES && count + toolsCount <= MAX_AGENT_TOOLS;
    if (fits) [bytes, count] = [bytes + toolsBytes, count + toolsCount];
    return fits;
  });
}

function cacheKey(organizationId: string, agentId: string): string {
  return `${organizationId}/${agentId}`;
}
