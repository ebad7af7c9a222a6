import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { SchemaVerdict } from '../../conversations/index.js';
import { entryLimit } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Integration } from '../domain/integration.js';
import { IntegrationChecked } from '../domain/integrations.events.js';
import { MAX_REFUSED_SCHEMAS, REFUSED_SCHEMA_MS } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { type AgentIntegration, IntegrationStateRepository } from '../persistence/integration-state.repository.js';

const UNNAMED = 'a tool, without saying which';

/** A tool of a server, and the provider whose models are offered it. */
export interface JudgedTool {
  readonly checked: Pick<AgentIntegration, 'integration' | 'state'>;
  /** As the server names it. */
  readonly tool: string;
  readonly provider: string;
}

/**
 * Remembers for `REFUSED_SCHEMA_MS` which schemas a provider has refused, so that not every run starts with a refused request,
 * and stores the refusal in the integration's `error`. A successful check of the server clears both. Each process
 * learns of a refusal separately, at the cost of one refused request.
 */
@Injectable()
export class RefusedSchemas {
  /** By integration; then by provider and tool, or by provider alone if it named no tool: the end (monotonic clock, in milliseconds). */
  private readonly refused = new LRUCache<string, Map<string, number>>(entryLimit(MAX_REFUSED_SCHEMAS));

  constructor(
    private readonly states: IntegrationStateRepository,
    private readonly integrations: IntegrationRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly logger: Logger,
  ) {}

  isRefused({ checked: { integration }, tool, provider }: JudgedTool): boolean {
    // Fast path: runs call this for each of their tools, and mostly no schema is refused.
    return this.refused.size > 0 && this.isKnown(integration, toolKey(provider, tool));
  }

  /** Does not throw and does not block: a run calls it and does not wait. */
  judged({ checked: { integration, state }, tool, provider }: JudgedTool, verdict: SchemaVerdict): void {
    if (verdict.accepted) {
      if (state?.status !== 'connected' || state.error === null || !isRefusalOf(state.error, provider, tool)) return;
      this.store(integration, state.error, null);
      return;
    }
    // For a refusal that names no tool, the run calls this for every tool: store one error only.
    const noted = verdict.isNamed ? toolKey(provider, tool) : provider;
    const isNoted = this.isKnown(integration, noted);
    for (const what of [noted, toolKey(provider, tool)]) this.remember(integration, what);
    if (isNoted) return;
    this.logger.warn(
      { integrationId: integration.id, provider, reason: verdict.reason },
      "A model provider refused a tool's schema",
    );
    this.store(integration, undefined, refusalError(provider, tool, verdict));
  }

  /** Call when the server has listed its tools again. */
  forget(integration: Integration): void {
    this.refused.delete(revisionKey(integration));
  }

  private isKnown(integration: Integration, what: string): boolean {
    const until = this.refused.get(revisionKey(integration))?.get(what) ?? 0;
    return until > this.clock.monotonic();
  }

  private remember(integration: Integration, what: string): void {
    const known = this.refused.get(revisionKey(integration)) ?? new Map<string, number>();
    known.set(what, this.clock.monotonic() + REFUSED_SCHEMA_MS);
    this.refused.set(revisionKey(integration), known);
  }

  /** @param known the error that must still be stored; undefined replaces any */
  private store(integration: Integration, known: string | undefined, error: string | null): void {
    this.note(integration, known, error).catch((failure: unknown) => {
      this.logger.warn(
        { err: failure, integrationId: integration.id },
        "A model provider's verdict on a tool's schema could not be stored",
      );
    });
  }

  private async note(integration: Integration, known: string | undefined, error: string | null): Promise<void> {
    const { organizationId, id } = integration;
    if (!(await this.states.saveError(integration, known, error))) return;
    const agentIds = await this.integrations.agentIdsOf(this.database, organizationId, id);
    this.events.publish(new IntegrationChecked(organizationId, id, agentIds));
  }
}

function toolKey(provider: string, tool: string): string {
  return `${provider}/${tool}`;
}

function revisionKey({ id, revision }: Integration): string {
  return `${id}/${revision}`;
}

/** The `error` of a connected integration with a tool whose schema a provider refuses. */
function refusalError(
  provider: string,
  tool: string,
  { isNamed, reason }: Extract<SchemaVerdict, { accepted: false }>,
): string {
  const offered = isNamed ? 'The tool is' : 'Tools are';
  const detail = reason === '' ? '' : ` It said: ${reason}.`;
  return (
    `${refused(provider, isNamed ? `the tool ${JSON.stringify(tool)}` : UNNAMED)}.${detail} ${offered} offered with any object as ` +
    'input until the server has been checked again or a request with the schema succeeds.'
  );
}

/** Whether `refusalError` made the error for this provider, for this tool or an unnamed one. */
function isRefusalOf(error: string, provider: string, tool: string): boolean {
  return [`the tool ${JSON.stringify(tool)}`, UNNAMED].some((what) => error.startsWith(`${refused(provider, what)}.`));
}

function refused(provider: string, what: string): string {
  return `The model provider (${provider}) refused the schema of ${what}`;
}
