import { Injectable } from '@nestjs/common';
import type { ModelMessage } from '../../models/index.js';
import { Database, storableJson, toDate } from '../../platform/database/index.js';
import type { MessageAttachment } from '../domain/attachment.js';
import type { Message, MessageRole, MessageStatus, Reaction, SaidMessage, ToolCallRecord } from '../domain/message.js';

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

export interface Page {
  /** Null for the newest. */
  readonly before: string | null;
  readonly limit: number;
}

type Nullable<Row> = { [Name in keyof Row]: Row[Name] | null };
type SaidRow = Pick<MessageRow, 'id' | 'run_id' | 'role' | 'content' | 'blocked'> &
  Nullable<Pick<MessageRow, 'attachments' | 'tool_calls' | 'transcript'>>;

export const MESSAGE_COLUMNS =
  'id, thread_id, run_id, role, content, status, blocked, attachments, reaction, tool_calls, transcript, created_at';

/** $1 organization, $2 thread, $3 the message before which to read, $4 how many. A plain `<`, which the index can begin at. */
const NEWEST_BEFORE = `
  where thread_id = $2 and organization_id = $1
    and seq < coalesce((select seq from messages where id = $3::uuid), 9223372036854775807)
  order by seq desc limit $4`;

@Injectable()
export class MessageRepository {
  constructor(private readonly database: Database) {}

  /** The messages before one of them, or the newest; oldest first. */
  async page(organizationId: string, threadId: string, { before, limit }: Page): Promise<Message[]> {
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_COLUMNS} from messages ${NEWEST_BEFORE}`,
      [organizationId, threadId, before, limit],
    );
    return rows.reverse().map(toMessage);
  }

  /** As `page`, with what a model reads of them alone: a long thread is read for every turn that nobody remembers it for. */
  async history(organizationId: string, threadId: string, { before, limit }: Page): Promise<SaidMessage[]> {
    const rows = await this.database.query<SaidRow>(
      `select id, run_id, role, content, blocked, nullif(attachments, '[]') as attachments,
              nullif(tool_calls, '[]') as tool_calls, nullif(transcript, '[]') as transcript
       from messages ${NEWEST_BEFORE}`,
      [organizationId, threadId, before, limit],
    );
    return rows.reverse().map(toSaidMessage);
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

/** Shared by all that have none: most do, and there are many. */
const NO_CALLS: readonly ToolCallRecord[] = [];
const NO_TRANSCRIPT: readonly ModelMessage[] = [];

function toSaidMessage(row: SaidRow): SaidMessage {
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
    transcript: row.transcript,
    createdAt: toDate(row.created_at),
  };
}
