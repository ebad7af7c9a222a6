import { Injectable } from '@nestjs/common';
import { type Counter, type Histogram, Metrics } from '../../platform/metrics/index.js';
import type { ToolCallStatus } from '../domain/message.js';
import type { ToolStepType } from '../ports/index.js';

const KINDS = ['tool', 'retrieval', 'memory'] as const satisfies readonly ToolStepType[];
const OUTCOMES = ['ok', 'error', 'denied', 'awaiting_approval', 'unknown'] as const;
/** From a look into memory to the longest that a call may take. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

type Settled = Exclude<ToolCallStatus, 'running' | 'approved'>;

/** What became of the calls that models made. */
@Injectable()
export class ToolCallMetrics {
  private readonly calls: Counter<'kind' | 'outcome'>;
  private readonly seconds: Histogram<'kind'>;

  constructor(metrics: Metrics) {
    this.calls = metrics.counter({
      name: 'agent_service_tool_calls_total',
      help: 'Calls of tools by kind and outcome; one that waits for approval is counted again once it was answered.',
      labels: { kind: KINDS, outcome: OUTCOMES },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_tool_call_seconds',
      help: 'How long the calls took that were made and came to an end.',
      labels: { kind: KINDS },
      buckets: BUCKETS,
    });
  }

  /** @param latencyMs absent for a call that was not made, or whose end is not known */
  count(kind: ToolStepType, status: Settled, latencyMs?: number): void {
    this.calls.increment({ kind, outcome: outcomeOf(status) });
    if (latencyMs !== undefined) this.seconds.observe({ kind }, latencyMs / 1_000);
  }
}

function outcomeOf(status: Settled): (typeof OUTCOMES)[number] {
  switch (status) {
    case 'completed':
      return 'ok';
    case 'failed':
      return 'error';
    case 'denied':
    case 'awaiting_approval':
    case 'unknown':
      return status;
    default:
      return status satisfies never;
  }
}
