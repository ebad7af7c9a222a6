import { Injectable } from '@nestjs/common';
import type { ModelMessage } from '../../models/index.js';
import { Database, storableJson, toDate } from '../../platform/database/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type {
  Message,
  MessageRole,
  MessageStatus,
  Reaction,
  HistoryMessage,
  ShownMessage,
  ToolCallRecord,
} from '../domain/message.js';

export interface MessageRow {
  id: string;
  thread_id: string;
  run_id: string | null;
  role: MessageRole;
  content: string;
  status: MessageStatus;
  blocked: boolean;
  attachments: MessageAttachment[];
  reaction: Reaction | null;
  tool_calls: ToolCallRecord[];
  transcript: ModelMessage[];
  created_at: string;
}

/** The messages before one of them, the newest first, until there are so many or they are so large. */
export interface PageBounds {
  /** Null for the newest. */
  readonly before: string | null;
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
  Nullable<Pick<MessageRow, 'attachments' | 'tool_calls' | 'transcript'>>;

export const MESSAGE_COLUMNS =
  'id, thread_id, run_id, role, content, status, blocked, attachments, reaction, tool_calls, transcript, created_at';

/**
 * $1 organization, $2 thread, $3 the message before which to read, $4 how many, $5 bytes. A plain `<`, which the index
 * can begin at. Large values stay where they are until a row is answered: those beyond the page are not read.
 * @param bytes what of a message counts
 */
const pageOf = (columns: string, bytes: string): string => `
  with newest as (
    select messages.*, row_number() over newest_first as nth, sum(${bytes}) over newest_first as total_bytes
    from messages
    where thread_id = $2 and organization_id = $1
      and seq < coalesce((select seq from messages where id = $3::uuid), 9223372036854775807)
    window newest_first as (order by seq desc rows unbounded preceding)
    order by seq desc limit $4::int + 1
  )
  select ${columns}, (select count(*)::int from newest) as found
  from newest where nth = 1 or (nth <= $4::int and total_bytes <= $5::bigint) order by nth`;

const SHOWN_PAGE = pageOf(
  `id, thread_id, run_id, role, content, status, blocked, attachments, reaction, created_at,
   case when $6::boolean then tool_calls else '[]' end as tool_calls`,
  'shown_bytes + case when $6::boolean then tool_bytes else 0 end',
);

const HISTORY_PAGE = pageOf(
  `id, run_id, role, content, blocked, nullif(attachments, '[]') as attachments,
   nullif(tool_calls, '[]') as tool_calls, nullif(transcript, '[]') as transcript`,
  'shown_bytes + tool_bytes + transcript_bytes',
);

@Injectable()
export class MessageRepository {
  constructor(private readonly database: Database) {}

  /** What is shown of messages; without `toolCalls` these are empty, and do not count. */
  async page(
    organizationId: string,
    threadId: string,
    { before, limit, maxBytes, toolCalls }: PageBounds & { readonly toolCalls: boolean },
  ): Promise<Page<ShownMessage>> {
    const rows = await this.database.query<Found<Omit<MessageRow, 'transcript'>>>(SHOWN_PAGE, [
      organizationId,
      threadId,
      before,
      limit,
      maxBytes,
      toolCalls,
    ]);
    return toPage(rows, toShownMessage);
  }

  /** As `page`, with what a model reads of them alone: a long thread is read for every run that nobody remembers it for. */
  async history(
    organizationId: string,
    threadId: string,
    { before, limit, maxBytes }: PageBounds,
  ): Promise<Page<HistoryMessage>> {
    const rows = await this.database.query<Found<SaidRow>>(HISTORY_PAGE, [organizationId, threadId, before, limit, maxBytes]);
    return toPage(rows, toHistoryMessage);
  }

  async countBefore(organizationId: string, threadId: string, messageId: string): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::int as count from messages
       where organization_id = $1 and thread_id = $2 and seq < (select seq from messages where id = $3)`,
      [organizationId, threadId, messageId],
    );
    return rows[0]?.count ?? 0;
  }

  /** Those of the files that a message of any organization refers to. */
  async referringTo(fileIds: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `select asked.id from unnest($1::text[]) as asked(id) where exists (
         select 1 from messages where messages.attachments <> '[]'::jsonb
           and messages.attachments @> jsonb_build_array(jsonb_build_object('fileId', asked.id))
       )`,
      [fileIds],
    );
    return rows.map(({ id }) => id);
  }

  /** Replaces the reaction to a reply. @returns null when the thread has no such reply */
  async react(
    organizationId: string,
    threadId: string,
    messageId: string,
    reaction: Reaction | null,
  ): Promise<Message | null> {
    const rows = await this.database.query<MessageRow>(
      `update messages set reaction = $4::jsonb
       where organization_id = $1 and thread_id = $2 and id = $3 and role = 'assistant'
       returning ${MESSAGE_COLUMNS}`,
      [organizationId, threadId, messageId, reaction === null ? null : storableJson(reaction)],
    );
    return rows[0] ? toMessage(rows[0]) : null;
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
    toolCalls: row.tool_calls ?? NO_CALLS,
    transcript: row.transcript ?? NO_TRANSCRIPT,
    ...(row.attachments === null ? {} : { attachments: row.attachments }),
  };
}

export function toMessage(row: MessageRow): Message {
  return { ...toShownMessage(row), transcript: row.transcript };
}

function toShownMessage(row: Omit<MessageRow, 'transcript'>): ShownMessage {
  return {
    id: row.id,
    threadId: row.thread_id,
    runId: row.run_id,
    role: row.role,
    content: row.content,
    status: row.status,
    blocked: row.blocked,
    ...(row.attachments.length === 0 ? {} : { attachments: row.attachments }),
    reaction: row.reaction,
    toolCalls: row.tool_calls,
    createdAt: toDate(row.created_at),
  };
}
