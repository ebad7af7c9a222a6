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

/** @param hasSessionStartHooks the organization has the feature; without it the field is absent */
export function detailView(trace: Trace, hasSessionStartHooks: boolean): TraceDetailResponse {
  return {
    ...summaryView(trace),
    timeToFirstTokenMs: trace.timeToFirstTokenMs,
    steps: trace.steps,
    reactions: {},
    ...(trace.userContext === null ? {} : { userContext: trace.userContext }),
    ...(hasSessionStartHooks ? { sessionStartHook: null } : {}),
  };
}
