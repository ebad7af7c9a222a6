import { Injectable } from '@nestjs/common';
import {
  type ApprovalDecision,
  type FinishedRun,
  RunObserver,
  type RunRecord,
  type SuggestionUsage,
  type UserContext,
} from '../../conversations/index.js';
import { boundedSteps } from '../domain/bounded-steps.js';
import type { RecordedTrace } from '../domain/trace.js';
import { suggestionUsageRow, traceRow } from '../persistence/trace.repository.js';

/** Stores the trace of a run in the statement that ends the run: either both are stored or neither. */
@Injectable()
export class RecordTrace extends RunObserver {
  override record(finished: FinishedRun): readonly RunRecord[] {
    return [traceRow(finished.run.organizationId, traceOf(finished))];
  }

  /** Suggestions count in the usage of the agent, and have no trace. */
  override recordSuggestions(usage: SuggestionUsage): readonly RunRecord[] {
    return [suggestionUsageRow(usage)];
  }
}

function traceOf(finished: FinishedRun): RecordedTrace {
  const { run, agent, message } = finished;
  const input = inputOf(finished);
  const output = message?.content ?? '';
  const { steps, bytes } = boundedSteps(finished.steps);
  return {
    id: run.id,
    agentId: run.agentId,
    threadId: run.threadId,
    messageId: message?.id ?? null,
    channel: finished.channel,
    provider: agent.provider,
    model: agent.model,
    status: run.status,
    startedAt: run.createdAt,
    latencyMs: finished.latencyMs,
    usage: run.usage,
    input,
    output,
    timeToFirstTokenMs: finished.timeToFirstTokenMs,
    steps,
    error: run.error,
    userContext: finished.userContext,
    callerSpan: finished.callerSpan,
    endedAt: run.completedAt ?? run.createdAt,
    storedBytes: Buffer.byteLength(input) + Buffer.byteLength(output) + bytes + contextBytes(finished.userContext),
    userKey: finished.userKey,
  };
}

function contextBytes(userContext: UserContext | null): number {
  return userContext === null ? 0 : Buffer.byteLength(JSON.stringify(userContext));
}

/** The user's message, or for a run that continues after approvals, the decisions. */
function inputOf({ userMessage, decisions }: FinishedRun): string {
  if (userMessage) return userMessage.text;
  return (decisions ?? []).map(decisionLine).join('\n');
}

function decisionLine({ tool, input, approved, reason, changedInput, result }: ApprovalDecision): string {
  if (result) return `Result: ${tool} ${JSON.stringify(input)}`;
  const why = reason === null || reason === '' ? '' : ` (${reason})`;
  const verdict = approved ? (changedInput ? 'Approved with other arguments' : 'Approved') : 'Declined';
  return `${verdict}: ${tool} ${JSON.stringify(changedInput ?? input)}${why}`;
}
