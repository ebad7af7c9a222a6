import { Injectable } from '@nestjs/common';
import { LockMode } from '@mikro-orm/core';
import type { ModelMessage } from '../../models/index.js';
import { Database, type SqlExecutor, storableText, toDate } from '../../platform/database/index.js';
import type {
  HistoryMessage,
  Message,
  MessageRole,
  MessageStatus,
  Reaction,
  ReactionName,
  ShownMessage,
  ToolCallRecord,
} from '../domain/message.js';
import {
  ADDITIONAL_CONTEXT,
  ATTACHMENTS,
  COMPONENTS,
  messages,
  REACTION,
  TOOL_CALLS,
  TRANSCRIPT,
} from './conversations.entities.js';
import { COUNT_BEFORE, FIND_MESSAGE, HISTORY_PAGE, REFERRED_FILES, SHOWN_PAGE } from './messages.sql.js';
import { COUNT_REACTIONS } from './reactions.sql.js';

/** A page ends at the first of the two limits. */
export interface PageBounds {
  readonly limit: number;
  /** Of the columns that are read, as stored. A larger message is a page by itself. */
  readonly maxBytes: number;
}

export interface Page<Item> {
  /** Oldest first. */
  readonly messages: readonly Item[];
  /** The thread has messages before these. */
  readonly hasMore: boolean;
}

interface HistoryRow {
  id: string;
  run_id: string | null;
  role: MessageRole;
  content: string;
  blocked: boolean;
  attachments: unknown;
  additional_context: unknown;
  tool_calls: unknown;
  transcript: unknown;
}

interface ShownRow {
  id: string;
  thread_id: string;
  run_id: string | null;
  client_id: string | null;
  role: MessageRole;
  content: string;
  status: MessageStatus;
  blocked: boolean;
  attachments: unknown;
  components: unknown;
  reaction: unknown;
  tool_calls: unknown;
  created_at: string;
}

/** A row of a page. `found`: how many rows the page would have without the limit of bytes, with one beyond `limit`. */
type Found<Row> = Row & { readonly found: number };

@Injectable()
export class MessageRepository {
  constructor(private readonly database: Database) {}

  /** The newest messages of a thread as clients see them; without `toolCalls` they have none. */
  async page(
    organizationId: string,
    threadId: string,
    bounds: PageBounds & { readonly toolCalls: boolean },
  ): Promise<Page<ShownMessage>> {
    const rows = await SHOWN_PAGE.run<Found<ShownRow>>(this.database, { organizationId, threadId, ...bounds });
    return toPage(rows, toShownMessage);
  }

  async history(
    organizationId: string,
    threadId: string,
    bounds: PageBounds & { /** The id of a message; null for the newest page. */ readonly before: string | null },
  ): Promise<Page<HistoryMessage>> {
    const rows = await HISTORY_PAGE.run<Found<HistoryRow>>(this.database, { organizationId, threadId, ...bounds });
    return toPage(rows, toHistoryMessage);
  }

  async countBefore(organizationId: string, threadId: string, messageId: string): Promise<number> {
    const rows = await COUNT_BEFORE.run<{ count: number }>(this.database, { organizationId, threadId, messageId });
    return rows[0]?.count ?? 0;
  }

  /** @returns those of the files that a message of any organization refers to */
  async referringTo(fileIds: readonly string[]): Promise<string[]> {
    const rows = await REFERRED_FILES.run<{ id: string }>(this.database, { fileIds });
    return rows.map(({ id }) => id);
  }

  async findReaction(organizationId: string, id: string): Promise<Reaction | null> {
    const options = { fields: ['reaction'], disableIdentityMap: true } as const;
    const message = await this.database.read((em) => em.findOne(messages, { organizationId, id }, options));
    return message?.reaction ?? null;
  }

  /** Counts the reactions to the replies of an agent's runs that started within the range, `to` not included. */
  countReactions(
    organizationId: string,
    agentId: string,
    range: { readonly from: Date; readonly to: Date },
  ): Promise<{ reaction: ReactionName; count: number }[]> {
    return COUNT_REACTIONS.run(this.database, { organizationId, agentId, ...range });
  }

  /** @returns null when the thread has no such reply */
  react(
    organizationId: string,
    threadId: string,
    messageId: string,
    given: Reaction | null,
  ): Promise<ShownMessage | null> {
    // The response shows the comment as the database stores it.
    const reaction = given && { ...given, comment: given.comment && storableText(given.comment) };
    return this.database.transaction(async ({ em }) => {
      const reply = { organizationId, threadId, id: messageId, role: 'assistant' } as const;
      const message = await em.findOne(messages, reply, { lockMode: LockMode.PESSIMISTIC_WRITE });
      if (!message) return null;
      message.reaction = reaction;
      const { id, runId, role, content, status, blocked, attachments, components, toolCalls, createdAt } = message;
      const shown = { id, threadId, runId, role, content, status, blocked, reaction, components, toolCalls, createdAt };
      return attachments.length === 0 ? shown : { ...shown, attachments };
    });
  }
}

/** The caller must have checked that the message belongs to a run of its organization. */
export async function findMessage(source: SqlExecutor, id: string): Promise<Message | null> {
  const [row] = await FIND_MESSAGE.run<ShownRow & { transcript: unknown }>(source, { id });
  return row ? { ...toShownMessage(row), transcript: TRANSCRIPT.read(row.transcript, row.id) } : null;
}

function toPage<Row, Item>(rows: Found<Row>[], read: (row: Row) => Item): Page<Item> {
  const hasMore = (rows[0]?.found ?? 0) > rows.length;
  return { messages: rows.reverse().map(read), hasMore };
}

/** Shared, since most messages have neither and the cache holds many messages. */
const NO_CALLS: readonly ToolCallRecord[] = [];
const NO_TRANSCRIPT: readonly ModelMessage[] = [];

function toHistoryMessage(row: HistoryRow): HistoryMessage {
  return {
    id: row.id,
    runId: row.run_id,
    role: row.role,
    content: row.content,
    blocked: row.blocked,
    toolCalls: TOOL_CALLS.readNullable(row.tool_calls, row.id) ?? NO_CALLS,
    transcript: TRANSCRIPT.readNullable(row.transcript, row.id) ?? NO_TRANSCRIPT,
    ...(row.attachments === null ? {} : { attachments: ATTACHMENTS.read(row.attachments, row.id) }),
    ...(row.additional_context === null
      ? {}
      : { additionalContext: ADDITIONAL_CONTEXT.read(row.additional_context, row.id) }),
  };
}

function toShownMessage(row: ShownRow): ShownMessage {
  const attachments = ATTACHMENTS.read(row.attachments, row.id);
  return {
    id: row.id,
    threadId: row.thread_id,
    runId: row.run_id,
    ...(row.client_id === null ? {} : { clientId: row.client_id }),
    role: row.role,
    content: row.content,
    status: row.status,
    blocked: row.blocked,
    ...(attachments.length === 0 ? {} : { attachments }),
    reaction: REACTION.readNullable(row.reaction, row.id),
    components: COMPONENTS.read(row.components, row.id),
    toolCalls: TOOL_CALLS.read(row.tool_calls, row.id),
    createdAt: toDate(row.created_at),
  };
}
