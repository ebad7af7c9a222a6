import { Injectable } from '@nestjs/common';
import { type Counter, type Histogram, Metrics } from '../../platform/metrics/index.js';
import { type HookCall, outcomeOf } from '../domain/hook-call.js';
import { HOOK_EVENTS } from '../domain/hook-event.js';

const TYPES = ['http', 'mcp_tool', 'session_start_hook'] as const;
const OUTCOMES = ['ok', 'failed', 'blocked'] as const;
/** Most handlers respond within milliseconds. The upper end is the longest timeout, that of the session-start hook. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

@Injectable()
export class HookMetrics {
  private readonly calls: Counter<'event' | 'type' | 'outcome'>;
  private readonly seconds: Histogram<'event' | 'type'>;

  constructor(metrics: Metrics) {
    this.calls = metrics.counter({
      name: 'agent_service_hook_calls_total',
      help: 'Calls of hook handlers by event, type of the handler and outcome.',
      labels: { event: HOOK_EVENTS, type: TYPES, outcome: OUTCOMES },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_hook_call_seconds',
      help: 'Duration of hook handler calls.',
      labels: { event: HOOK_EVENTS, type: TYPES },
      buckets: BUCKETS,
    });
  }

  count(call: HookCall): void {
    const { event, handler } = call.placed;
    this.calls.inc({ event, type: handler.type, outcome: outcomeOf(call) });
    this.seconds.observe({ event, type: handler.type }, call.latencyMs / 1_000);
  }

  countSessionStart(isOk: boolean, latencyMs: number): void {
    const labels = { event: 'SessionStart', type: 'session_start_hook' } as const;
    this.calls.inc({ ...labels, outcome: isOk ? 'ok' : 'failed' });
    this.seconds.observe(labels, latencyMs / 1_000);
  }
}
