import type { Interrupt, RunFinishedOutcome } from '@ag-ui/core';
import { approvalExpiry, type ApprovalRequest } from '../domain/approval.js';
import type {
  MessageComponent,
  MessageRole,
  MessageStatus,
  Reaction,
  ReactionName,
  ShownMessage,
  ToolCallRecord,
} from '../domain/message.js';
import type { Run, RunError, RunStatus, RunUsage } from '../domain/run.js';
import type { Thread } from '../domain/thread.js';

/** A run as the interface shows it. */
export interface RunView {
  readonly id: string;
  readonly thread_id: string;
  readonly assistant_id: string;
  readonly status: RunStatus;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly usage: RunUsage;
  readonly error: RunError | null;
}

/** A message as the interface shows it; tool calls only where the agent shows its tool activity. */
export interface MessageView {
  readonly id: string;
  readonly thread_id: string;
  readonly clientId: string | null;
  readonly role: MessageRole;
  readonly content: string;
  readonly attachments: readonly AttachmentView[];
  readonly createdAt: string;
  readonly runId: string | null;
  readonly status: MessageStatus;
  readonly blocked?: true;
  readonly components: readonly MessageComponent[];
  readonly toolCalls?: readonly ToolCallRecord[];
  /** At most one, by its name. */
  readonly reactions: Readonly<Partial<Record<ReactionName, ReactionView>>>;
}

/** A file of a message as the interface shows it. */
export interface AttachmentView {
  readonly name: string;
  readonly url: string;
  readonly contentType: string;
}

export interface ReactionView {
  readonly comment: string | null;
  readonly createdAt: string;
}

export interface ThreadView {
  readonly id: string;
  readonly assistant_id: string;
  readonly title: string | null;
  readonly channel: Thread['channel'];
  readonly metadata: Thread['metadata'];
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly lastMessageAt: string | null;
}

export function runView(run: Run): RunView {
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

/** How a run that did not fail ends on the stream. */
export function outcomeOf(run: Run): RunFinishedOutcome {
  if (run.status === 'requires_action') return { type: 'interrupt', interrupts: interruptViews(run) };
  return { type: run.status === 'cancelled' ? 'cancelled' : 'success' };
}

/** What the run ended with, as AG-UI has it. */
export function interruptViews({ approvals, createdAt, completedAt }: Run): Interrupt[] {
  const expiresAt = approvalExpiry(completedAt ?? createdAt).toISOString();
  return approvals.map((request) => interruptView(request, expiresAt));
}

function interruptView({ id, toolCallId, tool, input }: ApprovalRequest, expiresAt: string): Interrupt {
  return {
    id,
    reason: 'tool_approval',
    message: `The agent wants to call the tool ${tool}. Approve the call?`,
    toolCallId,
    responseSchema: APPROVAL_SCHEMA,
    expiresAt,
    metadata: { tool, input },
  };
}

const APPROVAL_SCHEMA = {
  type: 'object',
  properties: {
    approved: { type: 'boolean', description: 'Whether the call is made.' },
    reason: { type: 'string', description: 'Told to the model when the call is declined.' },
  },
  required: ['approved'],
  additionalProperties: false,
};

/** @param attachments of a user's message; replies have none */
export function messageView(
  message: ShownMessage,
  toolProgress: boolean,
  attachments: readonly AttachmentView[] = [],
): MessageView {
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
    components: message.components,
    ...(toolProgress ? { toolCalls: message.toolCalls } : {}),
    reactions: reactionView(message.reaction),
  };
}

export function reactionView(reaction: Reaction | null): MessageView['reactions'] {
  if (reaction === null) return {};
  const { reaction: name, comment, createdAt } = reaction;
  return { [name]: { comment, createdAt } };
}

export function threadView(thread: Thread): ThreadView {
  return {
    id: thread.id,
    assistant_id: thread.agentId,
    title: thread.title,
    channel: thread.channel,
    metadata: thread.metadata,
    createdAt: thread.createdAt.toISOString(),
    updatedAt: thread.updatedAt.toISOString(),
    lastMessageAt: thread.lastMessageAt?.toISOString() ?? null,
  };
}
