import { Injectable } from '@nestjs/common';
import { type Counter, Metrics } from '../../platform/metrics/index.js';
import type { AccessDeclaration } from './access.decorator.js';

/** The budgets that routes declare, and that of an address for credentials that fail. */
export type Limit = NonNullable<AccessDeclaration['rateLimit']> | 'failed_credentials';

/** How each is called in the metrics. */
const NAMES = {
  chat: 'chat',
  traces: 'traces',
  traceExport: 'trace_export',
  failed_credentials: 'failed_credentials',
} as const satisfies Readonly<Record<Limit, string>>;

/** Counts the requests that a limit has refused. */
@Injectable()
export class LimitRefusals {
  private readonly refusals: Counter<'limit'>;

  constructor(metrics: Metrics) {
    this.refusals = metrics.counter({
      name: 'agent_service_limit_refusals_total',
      help: 'Requests that were refused because a limit was reached, by limit.',
      labels: { limit: Object.values(NAMES) },
    });
  }

  count(limit: Limit): void {
    this.refusals.increment({ limit: NAMES[limit] });
  }
}
