import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { IntegrationNotFound } from '../domain/integrations.errors.js';
import { IntegrationRepository } from '../persistence/integration.repository.js';
import { CheckIntegration } from './check-integration.js';

export interface TestResult {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** How many tools the server has listed; 0 if it failed. */
  readonly tools: number;
  readonly error: string | null;
}

@Injectable()
export class TestIntegration {
  constructor(
    private readonly integrations: IntegrationRepository,
    private readonly checkIntegration: CheckIntegration,
    private readonly clock: Clock,
  ) {}

  /**
   * Opens a new connection, lists the tools and stores the result as the integration's state.
   * @throws IntegrationNotFound
   */
  async execute(organizationId: string, agentId: string, id: string): Promise<TestResult> {
    const integration = await this.integrations.findForAgent(organizationId, agentId, id);
    if (!integration) throw new IntegrationNotFound();
    const { elapsedMs } = this.clock.stopwatch();
    const { status, tools, error } = await this.checkIntegration.execute(integration);
    const ok = status === 'connected';
    return { ok, latencyMs: elapsedMs(), tools: ok ? tools.length : 0, error };
  }
}
