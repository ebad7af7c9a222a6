import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { ModelMessage, ProviderType, StopReason } from '../../models/index.js';
import { type ColumnsOf, queryBuilder, StorableJson } from '../../platform/database/index.js';
import type { ApprovalDecision, ApprovalRequest } from '../domain/approval.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { MessageComponent, MessageRole, MessageStatus, Reaction, ToolCallRecord } from '../domain/message.js';
import type { FailureFacts, RunError, RunStatus } from '../domain/run.js';
import type { Channel } from '../domain/thread.js';
import type { UserContext } from '../ports/index.js';

export const threads = defineEntity({
  name: 'StoredThread',
  tableName: 'threads',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    agentId: p.uuid(),
    title: p.text().strictNullable(),
    channel: p.text().$type<Channel>(),
    metadata: p.type(StorableJson).$type<Readonly<Record<string, string>>>(),
    externalId: p.text().strictNullable(),
    createdAt: p.datetime(6),
    updatedAt: p.datetime(6),
    lastMessageAt: p.datetime(6).strictNullable(),
    deletedAt: p.datetime(6).strictNullable(),
  },
});
export type StoredThread = InferEntity<typeof threads>;

export const messages = defineEntity({
  name: 'StoredMessage',
  tableName: 'messages',
  properties: {
    id: p.uuid().primary(),
    organizationId: p.uuid(),
    threadId: p.uuid(),
    runId: p.uuid().strictNullable(),
    clientId: p.text().strictNullable(),
    role: p.text().$type<MessageRole>(),
    content: p.text(),
    status: p.text().$type<MessageStatus>(),
    blocked: p.boolean(),
    attachments: p.type(StorableJson).$type<readonly MessageAttachment[]>(),
    reaction: p.type(StorableJson).$type<Reaction>().strictNullable(),
    toolCalls: p.type(StorableJson).$type<readonly ToolCallRecord[]>(),
    components: p.type(StorableJson).$type<readonly MessageComponent[]>(),
    /** Read by models again, and by nobody else. */
    transcript: p.type(StorableJson).$type<readonly ModelMessage[]>().lazy(),
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
    error: p.type(StorableJson).$type<RunError & Partial<FailureFacts>>().strictNullable(),
    cancelRequestedAt: p.datetime(6).strictNullable(),
    userContext: p.type(StorableJson).$type<UserContext>().strictNullable(),
    provider: p.text().$type<ProviderType>(),
    model: p.text(),
    useOwnApiKey: p.boolean(),
    inputTokens: p.bigint('number').strictNullable(),
    outputTokens: p.bigint('number').strictNullable(),
    credits: p.double().$type<number>(),
    stopReason: p.text().$type<StopReason>().strictNullable(),
    approvals: p.type(StorableJson).$type<readonly ApprovalRequest[]>(),
    decisions: p.type(StorableJson).$type<readonly ApprovalDecision[]>().strictNullable(),
    createdAt: p.datetime(6),
    completedAt: p.datetime(6).strictNullable(),
  },
});

/** What the first request with a key has made. */
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

/** With what the database keeps of a row by itself, and what a conversation depends on of an agent: that it is there. */
interface ConversationTables {
  threads: ColumnsOf<typeof threads> & { activity_at: string; awaiting_run_id: string | null };
  messages: ColumnsOf<typeof messages> & { seq: number; shown_bytes: number; tool_bytes: number; component_bytes: number };
  runs: ColumnsOf<typeof runs> & { session_id: string | null; session_user_key: string | null };
  idempotency_keys: ColumnsOf<typeof idempotencyKeys>;
  agents: { id: string; organization_id: string };
}

export type StoredMessage = InferEntity<typeof messages>;
export type MessageColumns = ConversationTables['messages'];

/** For reads that no entity fits and removals in batches. */
export const tables = queryBuilder<ConversationTables>();
