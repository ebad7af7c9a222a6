import type { Reactions } from '../../conversations/index.js';
import type { SessionStartOutcome } from '../../hooks/index.js';
import type { Trace, TraceSummary } from '../domain/trace.js';
import type { ExportedTraceResponse, TraceDetailResponse, TraceSummaryResponse } from './traces.dto.js';

export function summaryView(trace: TraceSummary): TraceSummaryResponse {
  return { ...trace, startedAt: trace.startedAt.toISOString() };
}

/** @param sessionStartHook undefined for organizations without the feature: the field is absent then */
export function detailView(
  trace: Trace,
  reactions: Reactions,
  sessionStartHook: SessionStartOutcome | null | undefined,
): TraceDetailResponse {
  return { ...wholeView(trace), reactions, ...(sessionStartHook === undefined ? {} : { sessionStartHook }) };
}

export function exportView(trace: Trace): ExportedTraceResponse {
  const { threadId: _threadId, ...exported } = wholeView(trace);
  return exported;
}

function wholeView({ userContext, ...trace }: Trace): Omit<TraceDetailResponse, 'reactions' | 'sessionStartHook'> {
  return { ...trace, startedAt: trace.startedAt.toISOString(), ...(userContext === null ? {} : { userContext }) };
}
