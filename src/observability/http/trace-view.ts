import type { Reactions } from '../../conversations/index.js';
import type { SessionStartOutcome } from '../../hooks/index.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import type { ExportedTraceResponse, TraceDetailResponse, TraceSummaryResponse } from './traces.dto.js';

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
    error: trace.error,
  };
}

/** @param sessionStartHook undefined where the organization does not have the feature: the field is absent then */
export function detailView(
  trace: Trace,
  reactions: Reactions,
  sessionStartHook: SessionStartOutcome | null | undefined,
): TraceDetailResponse {
  return {
    ...summaryView(trace),
    ...partsView(trace),
    reactions,
    ...(sessionStartHook === undefined ? {} : { sessionStartHook }),
  };
}

export function exportView(trace: Trace): ExportedTraceResponse {
  const { threadId: _threadId, ...summary } = summaryView(trace);
  return { ...summary, ...partsView(trace) };
}

/** What a summary leaves out of a trace. */
function partsView(trace: Trace): Pick<TraceDetailResponse, 'timeToFirstTokenMs' | 'steps' | 'userContext'> {
  return {
    timeToFirstTokenMs: trace.timeToFirstTokenMs,
    steps: trace.steps,
    ...(trace.userContext === null ? {} : { userContext: trace.userContext }),
  };
}
