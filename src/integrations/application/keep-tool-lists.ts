import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Integration } from '../domain/integration.js';
import { LIST_RETRY_MS, LIST_TTL_MS, OFFER_WAIT_MS } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { digestOf, type IntegrationOfAgent } from '../persistence/integration-state.repository.js';
import { atMost } from './at-most.js';
import { CheckIntegration } from './check-integration.js';

const NO_TOOLS = digestOf([]);

/**
 * Asks servers for their tools again when what is known of them is old. A run waits for that only where nothing is
 * known of a server, and not for long.
 */
@Injectable()
export class KeepToolLists {
  /** By integration and revision: however many runs ask, a server is asked once. */
  private readonly underWay = new Map<string, Promise<void>>();

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly checkIntegration: CheckIntegration,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @returns whether a server that was unknown may be known now */
  async refresh(integrations: readonly IntegrationOfAgent[], signal: AbortSignal): Promise<boolean> {
    const now = this.clock.now().getTime();
    const due = integrations.filter((checked) => isDue(checked, now));
    if (due.length === 0) return false;
    const checks = due.map((checked) => ({ check: this.check(checked.integration), isKnown: isKnown(checked) }));
    const unknown = checks.filter(({ isKnown: known }) => !known).map(({ check }) => check);
    if (unknown.length === 0) return false;
    await atMost(this.clock, OFFER_WAIT_MS, Promise.all(unknown), signal);
    return true;
  }

  /** Never rejects. */
  check(integration: Integration): Promise<void> {
    const key = keyOf(integration);
    const present = this.underWay.get(key);
    if (present) return present;
    const check = this.checkAsItIs(integration).catch((error: unknown) => {
      this.logger.warn({ err: error, integrationId: integration.id }, 'Asking a tool server for its tools failed');
    });
    this.underWay.set(key, check);
    void check.finally(() => this.underWay.delete(key));
    return check;
  }

  /** As `check`, with nothing that began earlier: that may not know what has changed, and would be stored after it. */
  async checkAgain(integration: Integration): Promise<void> {
    await this.underWay.get(keyOf(integration));
    await this.check(integration);
  }

  /** Who asks for it may have known the integration for long: one that is gone must never be connected to again. */
  private async checkAsItIs({ organizationId, id }: Integration): Promise<void> {
    const current = await this.integrations.find(organizationId, id);
    if (current) await this.checkIntegration.execute(current, 'open_connection');
  }
}

function keyOf({ id, revision }: Integration): string {
  return `${id}/${revision}`;
}

function isDue({ integration, state }: IntegrationOfAgent, now: number): boolean {
  if (!state || state.revision < integration.revision) return true;
  return now - state.checkedAt.getTime() > (state.status === 'connected' ? LIST_TTL_MS : LIST_RETRY_MS);
}

/** A server that is away is known too: waiting for it would hold up one run after the other. */
function isKnown({ integration, state }: IntegrationOfAgent): boolean {
  return state !== null && (state.revision === integration.revision || state.toolsDigest !== NO_TOOLS);
}
