import { Injectable } from '@nestjs/common';
import { type FinishedTurn, TurnObserver } from '../../conversations/index.js';
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
    latencyMs: Math.max(0, (run.completedAt ?? run.createdAt).getTime() - run.createdAt.getTime()),
    usage: run.usage,
    input: turn.userMessage.text,
    output: message?.content ?? '',
    timeToFirstTokenMs: turn.timeToFirstTokenMs,
    steps: boundedSteps(turn.steps),
    error: run.error,
    userContext: turn.userContext,
  };
}
