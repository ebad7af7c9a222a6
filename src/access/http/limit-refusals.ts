import { Injectable } from '@nestjs/common';
import { type Counter, Metrics } from '../../platform/metrics/index.js';
import type { AccessDeclaration } from './access.decorator.js';

const LIMITS = ['chat', 'traces', 'traceExport', 'failed_credentials'] as const satisfies readonly Limit[];

/** The budgets that routes declare, and that of an address for credentials that fail. */
export type Limit = NonNullable<AccessDeclaration['rateLimit']> | 'failed_credentials';

/** Counts the requests that a limit has refused. */
@Injectable()
export class LimitRefusals {
  private readonly refusals: Counter<'limit'>;

  constructor(metrics: Metrics) {
    this.refusals = metrics.counter({
      name: 'agent_service_limit_refusals_total',
      help: 'Requests that were refused because a limit was reached, by limit.',
      labels: { limit: LIMITS },
    });
  }

  count(limit: Limit): void {
    this.refusals.increment({ limit });
  }
}
