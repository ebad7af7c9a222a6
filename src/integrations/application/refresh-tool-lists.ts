import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Integration } from '../domain/integration.js';
import { LIST_RETRY_MS, LIST_TTL_MS, OFFER_WAIT_MS } from '../limits.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { digestOf, type AgentIntegration } from '../persistence/integration-state.repository.js';
import { waitAtMost } from './wait-at-most.js';
import { CheckIntegration } from './check-integration.js';

const NO_TOOLS = digestOf([]);

/** Checks servers with an outdated state. A run waits, at most `OFFER_WAIT_MS`, only for servers that were never checked. */
@Injectable()
export class RefreshToolLists {
  /** By integration and revision, so that concurrent runs share one check of a server. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly checkIntegration: CheckIntegration,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** @returns whether it waited for the check of an unknown server, so that the caller should read the states again */
  async refresh(integrations: readonly AgentIntegration[], signal: AbortSignal): Promise<boolean> {
    const now = this.clock.now().getTime();
    const due = integrations.filter((checked) => isDue(checked, now));
    if (due.length === 0) return false;
    const checks = due.map((checked) => ({ check: this.check(checked.integration), isKnown: isKnown(checked) }));
    const unknown = checks.filter(({ isKnown: known }) => !known).map(({ check }) => check);
    if (unknown.length === 0) return false;
    await waitAtMost(this.clock, OFFER_WAIT_MS, Promise.all(unknown), signal);
    return true;
  }

  /** Never rejects. */
  check(integration: Integration): Promise<void> {
    const key = checkKey(integration);
    const running = this.running.get(key);
    if (running) return running;
    const check = this.checkCurrent(integration).catch((error: unknown) => {
      this.logger.warn({ err: error, integrationId: integration.id }, 'The check of a tool server failed');
    });
    this.running.set(key, check);
    void check.finally(() => this.running.delete(key));
    return check;
  }

  /** As `check`, but waits for a running check first: that may have started before the change, and would overwrite the result. */
  async checkAgain(integration: Integration): Promise<void> {
    await this.running.get(checkKey(integration));
    await this.check(integration);
  }

  /** Reads the integration again, because the caller's may be outdated: the service must not connect for a removed integration. */
  private async checkCurrent({ organizationId, id }: Integration): Promise<void> {
    const current = await this.integrations.find(organizationId, id);
    if (current) await this.checkIntegration.execute(current, 'background');
  }
}

function checkKey({ id, revision }: Integration): string {
  return `${id}/${revision}`;
}

function isDue({ integration, state }: AgentIntegration, now: number): boolean {
  if (!state || state.revision < integration.revision) return true;
  return now - state.checkedAt.getTime() > (state.status === 'connected' ? LIST_TTL_MS : LIST_RETRY_MS);
}

/** A server that failed is known too: otherwise every run would wait for it. */
function isKnown({ integration, state }: AgentIntegration): boolean {
  return state !== null && (state.revision === integration.revision || state.toolsDigest !== NO_TOOLS);
}
