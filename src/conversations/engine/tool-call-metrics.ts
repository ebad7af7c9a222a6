import { Injectable } from '@nestjs/common';
import { type Counter, type Histogram, Metrics } from '../../platform/metrics/index.js';
import type { ToolCallStatus } from '../domain/message.js';
import type { ToolStepType } from '../ports/index.js';

const KINDS = ['tool', 'retrieval', 'memory'] as const satisfies readonly ToolStepType[];
const OUTCOMES = {
  completed: 'ok',
  failed: 'error',
  denied: 'denied',
  awaiting_approval: 'awaiting_approval',
  awaiting_result: 'awaiting_result',
  unknown: 'unknown',
} as const satisfies Readonly<Partial<Record<ToolCallStatus, string>>>;
/** In seconds: from a search of the memory to the longest allowed call. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

@Injectable()
export class ToolCallMetrics {
  private readonly calls: Counter<'kind' | 'outcome'>;
  private readonly seconds: Histogram<'kind'>;

  constructor(metrics: Metrics) {
    this.calls = metrics.counter({
      name: 'agent_service_tool_calls_total',
      help: 'Calls of tools by kind and outcome; a call that waits for approval or for a result is counted again after the answer.',
      labels: { kind: KINDS, outcome: Object.values(OUTCOMES) },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_tool_call_seconds',
      help: 'Duration of the calls that were made and ended.',
      labels: { kind: KINDS },
      buckets: BUCKETS,
    });
  }

  /** @param latencyMs absent for a call that was not made, or whose outcome is unknown */
  count(kind: ToolStepType, status: keyof typeof OUTCOMES, latencyMs?: number): void {
    this.calls.inc({ kind, outcome: OUTCOMES[status] });
    if (latencyMs !== undefined) this.seconds.observe({ kind }, latencyMs / 1_000);
  }
}
