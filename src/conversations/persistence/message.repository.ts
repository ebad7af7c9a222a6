import { Injectable } from '@nestjs/common';
import { LockMode } from '@mikro-orm/core';
import { type RawBuilder, sql } from 'kysely';
import type { ModelMessage } from '../../models/index.js';
import { Database, rowsOf, type SqlExecutor, storableText, toDate } from '../../platform/database/index.js';
import type { HistoryMessage, Message, Reaction, ShownMessage, ToolCallRecord } from '../domain/message.js';
import {
  ADDITIONAL_CONTEXT,
  ATTACHMENTS,
  COMPONENTS,
  type MessageColumns,
  messages,
  REACTION,
  tables,
  TOOL_CALLS,
  TRANSCRIPT,
} from './conversations.entities.js';
import { COUNT_BEFORE, HISTORY_PAGE } from './history.sql.js';

type MessageRow = Pick<MessageColumns, (typeof MESSAGE_COLUMNS)[number]>;
type ShownRow = Omit<MessageRow, 'transcript'>;

/** The newest messages, until there are so many or they are so large. */
export interface PageBounds {
  readonly limit: number;
  /** Of what is read of the messages, as it is stored. A message that is larger is a page of its own. */
  readonly maxBytes: number;
}

export interface Page<Item> {
  /** Oldest first. */
  readonly messages: readonly Item[];
  /** The thread has messages before these. */
  readonly hasMore: boolean;
}

type Nullable<Row> = { [Name in keyof Row]: Row[Name] | null };
type SaidRow = Pick<MessageRow, 'id' | 'run_id' | 'role' | 'content' | 'blocked'> &
  Nullable<Pick<MessageRow, 'attachments' | 'tool_calls' | 'transcript'>> & { additional_context: unknown };

const SHOWN_COLUMNS = [
  ...(['id', 'thread_id', 'run_id', 'client_id', 'role', 'content', 'status', 'blocked'] as const),
  ...(['attachments', 'components', 'reaction', 'created_at'] as const),
] as const;

const MESSAGE_COLUMNS = [...SHOWN_COLUMNS, 'tool_calls', 'transcript'] as const;

/**
 * Large values stay where they are until a row is answered: those beyond the page are not read. Rows rather than
 * entities, since clients ask for this again and again.
 * @param bytes what of a message counts
 */
function newestWithin(organizationId: string, threadId: string, limit: number, bytes: RawBuilder<number>) {
  return tables.with('newest', (query) =>
    query
      .selectFrom('messages')
      .selectAll()
      .select([
        sql<number>`row_number() over (order by seq desc rows unbounded preceding)`.as('nth'),
        sql<number>`sum(${bytes}) over (order by seq desc rows unbounded preceding)`.as('total_bytes'),
      ])
      .where('organization_id', '=', organizationId)
      .where('thread_id', '=', threadId)
      .orderBy('seq', 'desc')
      .limit(limit + 1),
  );
}

@Injectable()
export class MessageRepository {
  constructor(private readonly database: Database) {}

  /** What is shown of messages; without `toolCalls` these are empty, and do not count. */
  async page(
    organizationId: string,
    threadId: string,
    { limit, maxBytes, toolCalls }: PageBounds & { readonly toolCalls: boolean },
  ): Promise<Page<ShownMessage>> {
    const bytes = toolCalls
      ? sql<number>`shown_bytes + component_bytes + tool_bytes`
      : sql<number>`shown_bytes + component_bytes`;
    const calls = toolCalls ? sql`tool_calls` : sql`'[]'::jsonb`;
    const page = newestWithin(organizationId, threadId, limit, bytes)
      .selectFrom('newest')
      .select([...SHOWN_COLUMNS, calls.as('tool_calls'), sql<number>`(select count(*)::int from newest)`.as('found')])
      .where((eb) => eb.or([eb('nth', '=', 1), eb.and([eb('nth', '<=', limit), eb('total_bytes', '<=', maxBytes)])]))
      .orderBy('nth');
    return toPage(await rowsOf(this.database, page), toShownMessage);
  }

  /** As `page`, before a message, with what a model reads alone: a thread is read for every run that nobody remembers it for. */
  async history(
    organizationId: string,
    threadId: string,
    bounds: PageBounds & { /** Null for the newest. */ readonly before: string | null },
  ): Promise<Page<HistoryMessage>> {
    const rows = await HISTORY_PAGE.run<Found<SaidRow>>(this.database, { organizationId, threadId, ...bounds });
    return toPage(rows, toHistoryMessage);
  }

  async countBefore(organizationId: string, threadId: string, messageId: string): Promise<number> {
    const rows = await COUNT_BEFORE.run<{ count: number }>(this.database, { organizationId, threadId, messageId });
    return rows[0]?.count ?? 0;
  }

  /** Those of the files that a message of any organization refers to. */
  async referringTo(fileIds: readonly string[]): Promise<string[]> {
    const asked = sql<{ id: string }>`(select unnest(${fileIds}::text[]) as id)`.as<'asked'>(sql`asked`);
    const rows = await rowsOf(
      this.database,
      tables
        .selectFrom(asked)
        .select('asked.id')
        .where((eb) =>
          eb.exists(
            eb
              .selectFrom('messages')
              .select('messages.id')
              .where(sql<boolean>`attachments <> '[]'::jsonb`)
              .where(sql<boolean>`attachments @> jsonb_build_array(jsonb_build_object('fileId', asked.id))`),
          ),
        ),
    );
    return rows.map(({ id }) => id);
  }

  /** Replaces the reaction to a reply. @returns null when the thread has no such reply */
  react(
    organizationId: string,
    threadId: string,
    messageId: string,
    given: Reaction | null,
  ): Promise<ShownMessage | null> {
    // As it is stored, which is how the reply is shown from then on.
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

/** A row of a page; `found` of them there would be were they small enough, one beyond the page included. */
type Found<Row> = Row & { readonly found: number };

function toPage<Row, Item>(rows: Found<Row>[], read: (row: Row) => Item): Page<Item> {
  const hasMore = (rows[0]?.found ?? 0) > rows.length;
  return { messages: rows.reverse().map(read), hasMore };
}

/** Shared by all that have none: most do, and there are many. */
const NO_CALLS: readonly ToolCallRecord[] = [];
const NO_TRANSCRIPT: readonly ModelMessage[] = [];

function toHistoryMessage(row: SaidRow): HistoryMessage {
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

/** The reply that a run wrote; null while it has none. The run is known to be the caller's to read. */
export async function findMessage(source: SqlExecutor, id: string): Promise<Message | null> {
  const [row] = await rowsOf(source, tables.selectFrom('messages').select(MESSAGE_COLUMNS).where('id', '=', id));
  return row ? { ...toShownMessage(row), transcript: TRANSCRIPT.read(row.transcript, row.id) } : null;
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
