import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { StoredUpload } from '../domain/file.js';

interface FileRow {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly content_type: string;
  readonly size: string | number;
}

const COLUMNS = 'id, organization_id, name, content_type, size';

@Injectable()
export class FileRepository {
  constructor(private readonly database: Database) {}

  /** Known, but not there for anybody until `finish`. */
  async begin({ id, organizationId, name, contentType, size }: StoredUpload, now: Date): Promise<void> {
    await this.database.query(
      `insert into files (id, organization_id, name, content_type, size, status, created_at, used_at)
       values ($1, $2, $3, $4, $5, 'pending', $6, $6)`,
      [id, organizationId, name, contentType, size, now.toISOString()],
    );
  }

  /** @returns false when the upload was given up meanwhile */
  async finish(id: string): Promise<boolean> {
    const rows = await this.database.query(
      `update files set status = 'stored' where id = $1 and status = 'pending' returning id`,
      [id],
    );
    return rows.length > 0;
  }

  /** Of any organization: for whoever holds a signed URL. */
  async find(id: string): Promise<StoredUpload | null> {
    const [row] = await this.database.query<FileRow>(
      `select ${COLUMNS} from files where id = $1 and status = 'stored'`,
      [id],
    );
    return row ? uploadOf(row) : null;
  }

  /**
   * Finds a file of the organization for use and notes the use, unless one was noted since `notedSince`. A file
   * that is found stays for the whole time that unused ones do.
   */
  async use(organizationId: string, id: string, now: Date, notedSince: Date): Promise<StoredUpload | null> {
    const select = `select ${COLUMNS}, used_at < $3 as is_stale from files
      where id = $1 and organization_id = $2 and status = 'stored'`;
    const [row] = await this.database.query<FileRow & { readonly is_stale: boolean }>(select, [
      id,
      organizationId,
      notedSince.toISOString(),
    ]);
    if (!row) return null;
    if (!row.is_stale) return uploadOf(row);
    const noted = await this.database.query(
      `update files set used_at = greatest(used_at, $3)
       where id = $1 and organization_id = $2 and status = 'stored' returning id`,
      [id, organizationId, now.toISOString()],
    );
    return noted.length > 0 ? uploadOf(row) : null;
  }

  /** Ids after `after` of what may go: unused since `unusedSince`, or never finished. In the order of their ids. */
  async removable(unusedSince: Date, unfinishedSince: Date, after: string, limit: number): Promise<readonly string[]> {
    const rows = await this.database.query<{ readonly id: string }>(
      `select id from files
       where id > $3 and (used_at < $1 or status = 'removing' or (status = 'pending' and used_at < $2))
       order by id limit $4`,
      [unusedSince.toISOString(), unfinishedSince.toISOString(), after, limit],
    );
    return rows.map(({ id }) => id);
  }

  /** Takes one away from everybody, unless it was used since; then its content can go. */
  async claim(id: string, unusedSince: Date, unfinishedSince: Date): Promise<StoredUpload | null> {
    const [row] = await this.database.query<FileRow>(
      `update files set status = 'removing'
       where id = $3 and (used_at < $1 or status = 'removing' or (status = 'pending' and used_at < $2))
       returning ${COLUMNS}`,
      [unusedSince.toISOString(), unfinishedSince.toISOString(), id],
    );
    return row ? uploadOf(row) : null;
  }

  /** Takes a file away from everybody, used or not; then its content can go. */
  async softDelete(organizationId: string, id: string): Promise<StoredUpload | null> {
    const [row] = await this.database.query<FileRow>(
      `update files set status = 'removing' where organization_id = $1 and id = $2 returning ${COLUMNS}`,
      [organizationId, id],
    );
    return row ? uploadOf(row) : null;
  }

  async delete(id: string): Promise<void> {
    await this.database.query('delete from files where id = $1', [id]);
  }
}

function uploadOf(row: FileRow): StoredUpload {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    contentType: row.content_type,
    size: Number(row.size),
  };
}
