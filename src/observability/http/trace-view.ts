import type { SessionStartOutcome } from '../../hooks/index.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import type { TraceDetailResponse, TraceSummaryResponse } from './traces.dto.js';

type SummaryView = Pick<TraceSummaryResponse, keyof TraceSummaryResponse>;

export function summaryView(trace: TraceSummary): SummaryView {
  return {
    id: trace.id,
    agentId: trace.agentId,
    threadId: trace.threadId,
    messageId: trace.messageId,
    channel: trace.channel,
    provider: trace.provider,
    model: trace.model,
    status: trace.status,
    startedAt: trace.startedAt.toISOString(),
    latencyMs: trace.latencyMs,
    usage: trace.usage,
    input: trace.input,
    output: trace.output,
  };
}

/** @param sessionStartHook undefined where the organization does not have the feature: the field is absent then */
export function detailView(trace: Trace, sessionStartHook: SessionStartOutcome | null | undefined): TraceDetailResponse {
  return {
    ...summaryView(trace),
    timeToFirstTokenMs: trace.timeToFirstTokenMs,
    steps: trace.steps,
    reactions: {},
    ...(trace.userContext === null ? {} : { userContext: trace.userContext }),
    ...(sessionStartHook === undefined ? {} : { sessionStartHook }),
  };
}
