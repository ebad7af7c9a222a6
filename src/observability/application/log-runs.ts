import { Injectable } from '@nestjs/common';
import { type FinishedRun, RunObserver } from '../../conversations/index.js';
import { Logger } from '../../platform/telemetry/index.js';

/** Logs one line for each run, with ids and figures only: the log contains no conversation. */
@Injectable()
export class LogRuns extends RunObserver {
  constructor(private readonly logger: Logger) {
    super();
  }

  override ended({ run, agent, channel, latencyMs, timeToFirstTokenMs }: FinishedRun): void {
    const { id: runId, organizationId, agentId, threadId, status, error, usage } = run;
    const { inputTokens, outputTokens, cachedInputTokens } = usage;
    const of = { runId, organizationId, agentId, threadId, provider: agent.provider, channel };
    const took = { latencyMs: Math.round(latencyMs), timeToFirstTokenMs: rounded(timeToFirstTokenMs) };
    this.logger.info(
      { ...of, status, errorCode: error?.code ?? null, ...took, inputTokens, outputTokens, cachedInputTokens },
      'Run ended',
    );
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
