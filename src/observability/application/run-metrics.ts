import { Injectable } from '@nestjs/common';
import {
  type FailureCause,
  type FinishedRun,
  RUN_ERROR_CODES,
  RunObserver,
  type RunStatus,
} from '../../conversations/index.js';
import { PROVIDER_TYPES } from '../../models/index.js';
import { type Counter, type Histogram, Metrics } from '../../platform/metrics/index.js';

const STATUSES = [
  'completed',
  'requires_action',
  'failed',
  'cancelled',
  'timed_out',
] as const satisfies readonly RunStatus[];
const CAUSES = ['operator', 'customer'] as const satisfies readonly FailureCause[];
const DIRECTIONS = ['input', 'output'] as const;
/** The time limits of agents are minutes, so a run may take that long. */
const RUN_BUCKETS = [0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1_800];
const FIRST_TOKEN_BUCKETS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 60];

@Injectable()
export class RunMetrics extends RunObserver {
  private readonly runs: Counter<'status' | 'provider'>;
  private readonly failures: Counter<'code' | 'provider' | 'cause'>;
  private readonly seconds: Histogram<'provider'>;
  private readonly firstToken: Histogram<'provider'>;
  private readonly tokens: Counter<'provider' | 'direction'>;
  private readonly cachedTokens: Counter<'provider'>;

  constructor(metrics: Metrics) {
    super();
    const provider = PROVIDER_TYPES;
    this.runs = metrics.counter({
      name: 'agent_service_runs_total',
      help: 'Runs that have ended, by status and provider.',
      labels: { status: STATUSES, provider },
    });
    this.failures = metrics.counter({
      name: 'agent_service_failed_runs_total',
      help: 'Runs that failed or timed out, by the code of their error, provider, and who can do something about it.',
      labels: { code: RUN_ERROR_CODES, provider, cause: CAUSES },
    });
    this.seconds = metrics.histogram({
      name: 'agent_service_run_seconds',
      help: 'How long runs took, from their start to their end.',
      labels: { provider },
      buckets: RUN_BUCKETS,
    });
    this.firstToken = metrics.histogram({
      name: 'agent_service_run_first_token_seconds',
      help: 'Time from the start of a run to the first text of the reply; runs without text are not in it.',
      labels: { provider },
      buckets: FIRST_TOKEN_BUCKETS,
    });
    this.tokens = metrics.counter({
      name: 'agent_service_tokens_total',
      help: 'Tokens that models read (input) and wrote (output), as far as providers reported them.',
      labels: { provider, direction: DIRECTIONS },
    });
    this.cachedTokens = metrics.counter({
      name: 'agent_service_cached_input_tokens_total',
      help: 'The part of the input tokens that providers read from their prompt caches, as far as they reported it.',
      labels: { provider },
    });
  }

  override ended({ run, failureCause: cause, agent: { provider }, latencyMs, timeToFirstTokenMs }: FinishedRun): void {
    const { status, usage, error } = run;
    this.runs.inc({ status, provider });
    if (error && cause) this.failures.inc({ code: error.code, provider, cause });
    this.seconds.observe({ provider }, latencyMs / 1_000);
    if (timeToFirstTokenMs !== null) this.firstToken.observe({ provider }, timeToFirstTokenMs / 1_000);
    if (usage.inputTokens !== null) this.tokens.inc({ provider, direction: 'input' }, usage.inputTokens);
    if (usage.outputTokens !== null) this.tokens.inc({ provider, direction: 'output' }, usage.outputTokens);
    if (usage.cachedInputTokens !== null) this.cachedTokens.inc({ provider }, usage.cachedInputTokens);
  }
}
