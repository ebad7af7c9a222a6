import { Injectable } from '@nestjs/common';
import { Database, type SqlExecutor, statement, type Transaction } from '../../../platform/database/index.js';
import type { ClaimedSource, DriveItem, SyncTotals } from '../domain/drive-source.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import type { SourceId } from './drive-source.repository.js';

type ItemRow = Omit<DriveItem, 'size'> & { readonly size: string | null };

/** An entry that a sync came upon. */
export interface FoundItem extends Pick<DriveItem, 'fileId' | 'kind' | 'via' | 'name' | 'mimeType' | 'url' | 'size'> {
  readonly fingerprint: string | null;
  readonly todo: 'look_up' | 'list' | 'fetch' | null;
}

export interface ItemResult {
  readonly todo: DriveItem['todo'];
  readonly result: 'indexed' | 'failed' | 'unreadable' | 'skipped' | 'gone' | null;
  readonly error: string | null;
  readonly documentId: string | null;
}

const COLUMNS = `file_id as "fileId", kind, via, name, mime_type as "mimeType", url, size::text as size, todo, page_token as "pageToken",
  pages, attempts, document_id::text as "documentId"`;

/** Listing comes before fetching: it tells what is gone. */
const next = statement(
  { organizationId: 'uuid', sourceId: 'uuid', limit: 'integer' },
  (p) => `select ${COLUMNS} from drive_items where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and todo is not null
    order by case todo when 'look_up' then 0 when 'list' then 1 when 'remove' then 2 else 3 end, file_id limit ${p.limit}`,
);

const attempt = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileId: 'text' },
  (p) => `update drive_items set attempts = attempts + 1
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and file_id = ${p.fileId} returning attempts`,
);

const resume = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `update drive_items set attempts = 0, page_token = null, pages = 0,
      todo = case when result = 'failed' and kind = 'file' then 'fetch' when result in ('failed', 'gone') then 'look_up' else todo end
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and (result in ('failed', 'gone') or todo is not null)`,
);

/** A listing that was not completed is of no use to the one that begins now. */
const forgetListing = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `update drive_items set todo = null, page_token = null, pages = 0
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and todo in ('look_up', 'list', 'remove')`,
);

/**
 * What was seen in this sync already stays as it is, unless it has to be looked at again. A file whose fingerprint is the
 * same, and which was read or cannot be, is not fetched.
 */
const add = statement(
  { organizationId: 'uuid', sourceId: 'uuid', syncId: 'uuid', again: 'boolean', items: 'jsonb' },
  (p) => `insert into drive_items (source_id, organization_id, file_id, kind, via, name, mime_type, url, size, fingerprint, todo, seen_in)
    select ${p.sourceId}, ${p.organizationId}, i."fileId", i.kind, i.via, i.name, i."mimeType", i.url, i.size, i.fingerprint, i.todo, ${p.syncId}
      from jsonb_to_recordset(${p.items}) as i("fileId" text, kind text, via text, name text, "mimeType" text, url text, size bigint,
        fingerprint text, todo text)
    on conflict (source_id, file_id) do update set
      kind = excluded.kind, via = case when ${p.again} then drive_items.via else excluded.via end, name = excluded.name,
      mime_type = excluded.mime_type, url = excluded.url, size = excluded.size,
      fingerprint = coalesce(excluded.fingerprint, drive_items.fingerprint), page_token = null, pages = 0, attempts = 0,
      result = case when excluded.kind in ('folder', 'shortcut') then null else drive_items.result end,
      error = case when excluded.kind in ('folder', 'shortcut') then null else drive_items.error end,
      todo = case when excluded.todo is distinct from 'fetch' then excluded.todo
                  when drive_items.todo is distinct from 'fetch' and drive_items.fingerprint = excluded.fingerprint
                   and drive_items.result in ('indexed', 'unreadable', 'skipped') then null
                  else 'fetch' end,
      seen_in = excluded.seen_in
    where ${p.again} or drive_items.seen_in <> excluded.seen_in`,
);

const settle = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileId: 'text', todo: 'text', result: 'text', error: 'text', documentId: 'uuid' },
  (p) => `update drive_items set todo = ${p.todo}, result = ${p.result}, error = ${p.error}, document_id = ${p.documentId}, attempts = 0
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and file_id = ${p.fileId} returning file_id`,
);

const turnPage = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileId: 'text', pageToken: 'text' },
  (p) => `update drive_items set page_token = ${p.pageToken}, pages = pages + 1, attempts = 0,
      todo = case when ${p.pageToken} is null then null else 'list' end
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and file_id = ${p.fileId}`,
);

const isListing = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `select file_id from drive_items
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and todo in ('look_up', 'list') limit 1`,
);

const removeUnseen = statement(
  { organizationId: 'uuid', sourceId: 'uuid', syncId: 'uuid' },
  (p) => `update drive_items set todo = 'remove', attempts = 0
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and seen_in <> ${p.syncId}`,
);

const removeLater = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileIds: 'jsonb' },
  (p) => `update drive_items set todo = 'remove', attempts = 0
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId}
      and file_id in (select jsonb_array_elements_text(${p.fileIds}))`,
);

const drop = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileId: 'text' },
  (p) => `delete from drive_items where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and file_id = ${p.fileId}`,
);

const known = statement(
  { organizationId: 'uuid', sourceId: 'uuid', fileIds: 'jsonb' },
  (p) => `select file_id as "fileId", kind, via, seen_in::text as "seenIn" from drive_items
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and todo is distinct from 'remove'
      and file_id in (select jsonb_array_elements_text(${p.fileIds}))`,
);

const counts = statement(
  { organizationId: 'uuid', sourceId: 'uuid', syncId: 'uuid', isFull: 'boolean' },
  (p) => `select count(*) filter (where kind in ('file', 'unknown'))::integer as files, count(*) filter (where kind in ('folder', 'shortcut'))::integer as folders
    from drive_items where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and (seen_in = ${p.syncId} or not ${p.isFull})`,
);

const totals = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `select count(*) filter (where document_id is not null)::integer as indexed,
      count(*) filter (where result in ('failed', 'unreadable', 'gone'))::integer as wrong
    from drive_items where organization_id = ${p.organizationId} and source_id = ${p.sourceId}`,
);

const firstWrong = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `select name, error from drive_items
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and result in ('failed', 'unreadable', 'gone')
    order by name, file_id limit 1`,
);

const documents = statement(
  { organizationId: 'uuid', sourceId: 'uuid', limit: 'integer' },
  (p) => `select document_id::text as id from drive_items
    where organization_id = ${p.organizationId} and source_id = ${p.sourceId} and document_id is not null limit ${p.limit}`,
);

const usage = statement(
  { organizationId: 'uuid', sourceId: 'uuid' },
  (p) => `select coalesce(sum(d.chunks), 0)::text as chunks, coalesce(sum(d.bytes::bigint), 0)::text as bytes
    from drive_items i join knowledge_documents d on d.id = i.document_id and d.organization_id = i.organization_id
    where i.organization_id = ${p.organizationId} and i.source_id = ${p.sourceId}`,
);

const forgetDocuments = statement(
  { organizationId: 'uuid', sourceId: 'uuid', ids: 'jsonb' },
  (p) => `delete from drive_items where organization_id = ${p.organizationId} and source_id = ${p.sourceId}
    and document_id in (select jsonb_array_elements_text(${p.ids})::uuid)`,
);

/** The files, folders and shortcuts of a source, each with the work that is left of it. Those who write hold the source's lease. */
@Injectable()
export class DriveItemRepository {
  constructor(private readonly database: Database) {}

  async next(source: ClaimedSource, limit: number): Promise<DriveItem[]> {
    const rows = await next.run<ItemRow>(this.database, { ...placeOf(source), limit });
    return rows.map((row) => ({ ...row, size: row.size === null ? null : Number(row.size) }));
  }

  /** Counts it before it is made. @returns which it is, from 1 */
  async attempt(source: ClaimedSource, fileId: string): Promise<number> {
    const [row] = await attempt.run<{ attempts: number }>(this.database, { ...placeOf(source), fileId });
    return row?.attempts ?? 1;
  }

  /** What failed last time is tried again. */
  async resume(transaction: Transaction, source: ClaimedSource): Promise<void> {
    await resume.run(transaction, placeOf(source));
  }

  async forgetListing(transaction: Transaction, source: ClaimedSource): Promise<void> {
    await forgetListing.run(transaction, placeOf(source));
  }

  /** @param again also those that this sync has seen already; they keep how they were come to */
  async add(transaction: Transaction, source: ClaimedSource, items: readonly FoundItem[], again = false): Promise<void> {
    if (items.length > 0) await add.run(transaction, { ...placeOf(source), syncId: source.syncId, again, items });
  }

  /** @returns false when it is gone */
  async settle(transaction: SqlExecutor, source: ClaimedSource, fileId: string, { todo, result, error, documentId }: ItemResult): Promise<boolean> {
    return (await settle.run(transaction, { ...placeOf(source), fileId, todo, result, error, documentId })).length > 0;
  }

  /** @param pageToken null at the end of the folder */
  async turnPage(transaction: Transaction, source: ClaimedSource, fileId: string, pageToken: string | null): Promise<void> {
    await turnPage.run(transaction, { ...placeOf(source), fileId, pageToken });
  }

  async isListing(transaction: Transaction, source: ClaimedSource): Promise<boolean> {
    return (await isListing.run(transaction, placeOf(source))).length > 0;
  }

  async removeUnseen(transaction: Transaction, source: ClaimedSource): Promise<void> {
    await removeUnseen.run(transaction, { ...placeOf(source), syncId: source.syncId });
  }

  async removeLater(transaction: Transaction, source: ClaimedSource, fileIds: readonly string[]): Promise<void> {
    if (fileIds.length > 0) await removeLater.run(transaction, { ...placeOf(source), fileIds });
  }

  async drop(transaction: Transaction, source: ClaimedSource, fileId: string): Promise<void> {
    await drop.run(transaction, { ...placeOf(source), fileId });
  }

  async known(executor: SqlExecutor, source: ClaimedSource, fileIds: readonly string[]): Promise<Map<string, KnownItem>> {
    const rows = await known.run<KnownItem>(executor, { ...placeOf(source), fileIds });
    return new Map(rows.map((row) => [row.fileId, row]));
  }

  async counts(transaction: Transaction, source: ClaimedSource): Promise<{ readonly files: number; readonly folders: number }> {
    const { syncId, isFull } = source;
    const [row] = await counts.run<{ files: number; folders: number }>(transaction, { ...placeOf(source), syncId, isFull });
    return row ?? { files: 0, folders: 0 };
  }

  async totals(source: ClaimedSource): Promise<SyncTotals> {
    const [row] = await totals.run<{ indexed: number; wrong: number }>(this.database, placeOf(source));
    const [first] = await firstWrong.run<{ name: string; error: string }>(this.database, placeOf(source));
    return { indexed: row?.indexed ?? 0, wrong: row?.wrong ?? 0, firstWrong: first ?? null, isTruncated: source.isTruncated };
  }

  /** Of a source that is removed. */
  async documents({ organizationId, id: sourceId }: SourceId, limit: number): Promise<string[]> {
    const rows = await documents.run<{ id: string }>(this.database, { organizationId, sourceId, limit });
    return rows.map(({ id }) => id);
  }

  async usage({ organizationId, id: sourceId }: SourceId): Promise<StoreUsage> {
    const [row] = await usage.run<{ chunks: string; bytes: string }>(this.database, { organizationId, sourceId });
    return { chunks: Number(row?.chunks), bytes: Number(row?.bytes) };
  }

  async forgetDocuments({ organizationId, id: sourceId }: SourceId, ids: readonly string[]): Promise<void> {
    await forgetDocuments.run(this.database, { organizationId, sourceId, ids });
  }
}

export interface KnownItem extends Pick<DriveItem, 'fileId' | 'kind' | 'via'> {
  /** The sync that saw it last. */
  readonly seenIn: string;
}

function placeOf({ organizationId, id: sourceId }: SourceId): { organizationId: string; sourceId: string } {
  return { organizationId, sourceId };
}
