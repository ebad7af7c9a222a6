import { Injectable } from '@nestjs/common';
import { type Counter, Metrics } from '../../platform/metrics/index.js';
import type { AccessDeclaration } from './access.decorator.js';

/** The budgets that routes declare, and the budget of a session for all requests with its passes. */
export type Budget = NonNullable<AccessDeclaration['rateLimit']> | 'session';

/** All budgets, including that of an address for failed credentials. */
export type Limit = Budget | 'failed_credentials';

/** The names in the metrics. */
const NAMES = {
  chat: 'chat',
  sessions: 'sessions',
  sessionRefresh: 'session_refresh',
  session: 'session',
  traces: 'traces',
  traceExport: 'trace_export',
  failed_credentials: 'failed_credentials',
} as const satisfies Readonly<Record<Limit, string>>;

/** Counts the requests that were refused because of a limit. */
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
    this.refusals.inc({ limit: NAMES[limit] });
  }
}
