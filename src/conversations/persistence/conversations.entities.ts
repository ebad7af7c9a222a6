import { defineEntity, p } from '@mikro-orm/core';
import { z } from 'zod';
import { modelMessage, type ProviderType, type StopReason, toolResult } from '../../models/index.js';
import { CustomerJson, JsonDocument } from '../../platform/database/index.js';
import { approvalDecision, approvalRequest } from '../domain/approval.js';
import { messageAttachment } from '../domain/attachment.js';
import { messageComponent, type MessageRole, type MessageStatus, reaction, toolCallRecord } from '../domain/message.js';
import { type RunStatus, storedFailure } from '../domain/run.js';
import { runContinuation } from '../domain/run-options.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../ports/index.js';

export const METADATA = new CustomerJson<Readonly<Record<string, string>>>('threads.metadata');
export const ATTACHMENTS = new JsonDocument('messages.attachments', z.array(messageAttachment));
export const REACTION = new JsonDocument('messages.reaction', reaction);
export const TOOL_CALLS = new JsonDocument('messages.tool_calls', z.array(toolCallRecord));
export const COMPONENTS = new JsonDocument('messages.components', z.array(messageComponent));
export const TRANSCRIPT = new JsonDocument('messages.transcript', z.array(modelMessage));
export const ADDITIONAL_CONTEXT = new JsonDocument('messages.additional_context', z.array(z.string()));
export const RUN_ERROR = new JsonDocument('runs.error', storedFailure);
export const USER_CONTEXT = new CustomerJson<UserContext>('runs.user_context');
export const APPROVALS = new JsonDocument('runs.approvals', z.array(approvalRequest));
export const DECISIONS = new JsonDocument('runs.decisions', z.array(approvalDecision));
export const CONTINUATION = new JsonDocument('runs.continuation', runContinuation);
export const KEPT_RESULTS = new JsonDocument('runs.kept_results', z.array(toolResult));

export const threads = defineEntity({
  name: 'StoredThread',
  tableName: 'threads',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    title: p.text().strictNullable(),
    channel: p.text().$type<Channel>(),
    metadata: METADATA.property(),
    externalId: p.text().strictNullable(),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
    lastMessageAt: p.datetime(6).strictNullable(),
    deletedAt: p.datetime(6).strictNullable(),
  },
});

export const messages = defineEntity({
  name: 'StoredMessage',
  tableName: 'messages',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    threadId: p.uuid(),
    runId: p.uuid().strictNullable(),
    /** The client's own id of a user's message. */
    clientId: p.text().strictNullable(),
    role: p.text().$type<MessageRole>(),
    content: p.text(),
    status: p.text().$type<MessageStatus>(),
    blocked: p.boolean(),
    attachments: ATTACHMENTS.property(),
    reaction: REACTION.property().strictNullable(),
    toolCalls: TOOL_CALLS.property(),
    components: COMPONENTS.property(),
    /** Only models read it. */
    transcript: TRANSCRIPT.property().lazy(),
    createdAt: p.datetime(6),
  },
});

export const runs = defineEntity({
  name: 'StoredRun',
  tableName: 'runs',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    threadId: p.uuid(),
    agentId: p.uuid(),
    ownerId: p.uuid(),
    messageId: p.uuid(),
    status: p.text().$type<RunStatus>(),
    error: RUN_ERROR.property().strictNullable(),
    cancelRequestedAt: p.datetime(6).strictNullable(),
    userContext: USER_CONTEXT.property().strictNullable(),
    provider: p.text().$type<ProviderType>(),
    model: p.text(),
    useOwnApiKey: p.boolean(),
    inputTokens: p.bigint('number').strictNullable(),
    outputTokens: p.bigint('number').strictNullable(),
    /** The part of `inputTokens` that the provider read from its cache; null in runs of earlier releases. */
    cachedInputTokens: p.bigint('number').strictNullable(),
    credits: p.double().$type<number>(),
    stopReason: p.text().$type<StopReason>().strictNullable(),
    approvals: APPROVALS.property(),
    decisions: DECISIONS.property().strictNullable(),
    createdAt: p.datetime(6),
    completedAt: p.datetime(6).strictNullable(),
  },
});

/** The resource that the first request with a key has made. */
export const idempotencyKeys = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  properties: {
    organizationId: p.uuid().primary(),
    operation: p.text().primary(),
    key: p.text().primary(),
    fingerprint: p.text(),
    resourceId: p.uuid(),
    createdAt: p.datetime(6),
  },
});
