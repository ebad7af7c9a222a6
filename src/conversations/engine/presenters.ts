import type { RunFinishedOutcome } from '@ag-ui/core';
import { approvalExpiry, type ApprovalRequest } from '../domain/approval.js';
import type { PartPlace, Reaction, ReactionName, ShownMessage, ToolCallRecord } from '../domain/message.js';
import type { Run } from '../domain/run.js';
import type { AttachmentResponse } from '../http/attachments.dto.js';
import type { InterruptResponse, MessageResponse, RunResponse, ToolCallResponse } from '../http/messages.dto.js';

/** At most one reaction, keyed by its name. */
export type Reactions = Readonly<Partial<Record<ReactionName, Omit<Reaction, 'reaction'>>>>;

export function runView(run: Run): RunResponse {
  return {
    id: run.id,
    thread_id: run.threadId,
    assistant_id: run.agentId,
    status: run.status,
    createdAt: run.createdAt.toISOString(),
    completedAt: run.completedAt?.toISOString() ?? null,
    usage: run.usage,
    error: run.error,
  };
}

export function outcomeOf(run: Run): RunFinishedOutcome {
  if (run.status === 'requires_action') {
    // AG-UI has no interrupts for front-end tools: the client finds their calls among the events.
    const interrupts = interruptViews({ ...run, approvals: run.approvals.filter(({ kind }) => kind === 'approval') });
    if (interrupts.length > 0) return { type: 'interrupt', interrupts };
    return { type: 'success', pendingToolCallIds: run.approvals.map(({ toolCallId }) => toolCallId) };
  }
  return { type: run.status === 'cancelled' ? 'cancelled' : 'success' };
}

export function interruptViews({ approvals, createdAt, completedAt }: Run): InterruptResponse[] {
  const expiresAt = approvalExpiry(completedAt ?? createdAt).toISOString();
  return approvals.map((request) => interruptView(request, expiresAt));
}

function interruptView({ id, kind, toolCallId, tool, input }: ApprovalRequest, expiresAt: string): InterruptResponse {
  return { id, ...describedBy(kind, tool), toolCallId, expiresAt, metadata: { tool, input } };
}

function describedBy(
  kind: ApprovalRequest['kind'],
  tool: string,
): Pick<InterruptResponse, 'reason' | 'message' | 'responseSchema'> {
  switch (kind) {
    case 'approval': {
      const message = `The agent wants to call the tool ${tool}. Approve the call?`;
      return { reason: 'tool_approval', message, responseSchema: APPROVAL_SCHEMA };
    }
    case 'client_call': {
      const message = `The agent calls your tool ${tool}. Call it and send its result.`;
      return { reason: 'client_tool_call', message, responseSchema: RESULT_SCHEMA };
    }
    default:
      return kind satisfies never;
  }
}

const APPROVAL_SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the call is made.' },
    reason: { type: 'string', description: 'The model reads it when the call is declined.' },
    input: { type: 'object', description: 'The arguments of an approved call, instead of those in `metadata`.' },
  },
  required: ['approved'],
  additionalProperties: false,
};

const RESULT_SCHEMA = {
  type: 'object',
  properties: {
    result: { type: ['string', 'object'], description: 'What the tool returned.' },
    isError: { type: 'boolean', description: 'Whether the tool failed; `result` then says why.' },
  },
  required: ['result'],
  additionalProperties: false,
};

/** @param attachments of a user's message; replies have none */
export function messageView(
  message: ShownMessage,
  toolProgress: boolean,
  attachments: readonly AttachmentResponse[] = [],
): MessageResponse {
  return {
    id: message.id,
    thread_id: message.threadId,
    clientId: message.clientId ?? null,
    role: message.role,
    content: message.content,
    attachments,
    createdAt: message.createdAt.toISOString(),
    runId: message.runId,
    status: message.status,
    ...(message.blocked ? { blocked: true as const } : {}),
    components: message.components.map(withoutPlace),
    ...(toolProgress ? { toolCalls: message.toolCalls.map(toolCallView) } : {}),
    ...offsetsView([...(toolProgress ? message.toolCalls : []), ...message.components]),
    reactions: reactionView(message.reaction),
  };
}

interface Part {
  readonly id: string;
  readonly place?: PartPlace | undefined;
}

function withoutPlace<Shown extends Part>({ place: _place, ...part }: Shown): Omit<Shown, 'place'> {
  return part;
}

function toolCallView({ byCaller: _byCaller, ...call }: ToolCallRecord): ToolCallResponse {
  return withoutPlace(call);
}

/** Empty when no place is known. */
function offsetsView(parts: readonly Part[]): Pick<MessageResponse, 'partOffsets'> {
  const placed = parts.flatMap(({ id, place }) => (place ? [{ id, ...place }] : []));
  if (placed.length === 0) return {};
  placed.sort((a, b) => a.order - b.order);
  return { partOffsets: placed.map(({ id, offset }) => ({ id, offset })) };
}

export function reactionView(reaction: Reaction | null): Reactions {
  if (reaction === null) return {};
  const { reaction: name, comment, createdAt } = reaction;
  return { [name]: { comment, createdAt } };
}
