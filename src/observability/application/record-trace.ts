import { Injectable } from '@nestjs/common';
import { type ApprovalDecision, type FinishedTurn, TurnObserver } from '../../conversations/index.js';
import type { Statement } from '../../platform/database/index.js';
import { boundedSteps } from '../domain/bounded-steps.js';
import type { Trace } from '../domain/trace.js';
import { insertTrace } from '../persistence/trace.repository.js';

/** Leaves a trace of every turn, in the statement that ends it: there is one exactly when the turn is stored. */
@Injectable()
export class RecordTrace extends TurnObserver {
  record(turn: FinishedTurn): Statement {
    return insertTrace(turn.run.organizationId, traceOf(turn));
  }
}

function traceOf(turn: FinishedTurn): Trace {
  const { run, agent, message } = turn;
  return {
    id: run.id,
    agentId: run.agentId,
    threadId: run.threadId,
    messageId: message?.id ?? null,
    channel: turn.channel,
    provider: agent.provider,
    model: agent.model,
    status: run.status,
    startedAt: run.createdAt,
    latencyMs: turn.latencyMs,
    usage: run.usage,
    input: inputOf(turn),
    output: message?.content ?? '',
    timeToFirstTokenMs: turn.timeToFirstTokenMs,
    steps: boundedSteps(turn.steps),
    error: run.error,
    userContext: turn.userContext,
  };
}

/** The user's message; of a turn that went on with answers, what was approved and what was not. */
function inputOf({ userMessage, decisions }: FinishedTurn): string {
  if (userMessage) return userMessage.text;
  return (decisions ?? []).map(answerLine).join('\n');
}

function answerLine({ tool, input, approved, reason }: ApprovalDecision): string {
  const why = reason === null || reason === '' ? '' : ` (${reason})`;
  return `${approved ? 'Approved' : 'Declined'}: ${tool} ${JSON.stringify(input)}${why}`;
}
