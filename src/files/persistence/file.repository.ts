import type { EntityData, FilterQuery, InferEntity } from '@mikro-orm/core';
import type { QBFilterQuery } from '@mikro-orm/sql';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { StoredUpload } from '../domain/file.js';
import { StoredFile } from './files.schema.js';

type FileRow = InferEntity<typeof StoredFile>;

/** What leads to the content of a file (`storageKey`). */
type ContentPlace = Pick<StoredUpload, 'id' | 'organizationId'>;

/**
 * Each write is one statement that names the state it begins from: the content of a file is elsewhere, and no
 * transaction spans the two.
 */
@Injectable()
export class FileRepository {
  constructor(private readonly database: Database) {}

  /** Known, but not there for anybody until `finish`. */
  async begin(file: StoredUpload, now: Date): Promise<void> {
    await this.database.write((em) =>
      em.insert(StoredFile, { ...file, status: 'pending', createdAt: now, usedAt: now }),
    );
  }

  /** @returns false when the upload was given up meanwhile */
  async finish(id: string): Promise<boolean> {
    return this.update({ id, status: 'pending' }, { status: 'stored' });
  }

  /** Of any organization: for whoever holds a signed URL. */
  async find(id: string): Promise<StoredUpload | null> {
    return uploadOf(await this.database.read((em) => em.findOne(StoredFile, { id, status: 'stored' })));
  }

  /**
   * Finds a file of the organization for use and notes the use, unless one was noted since `notedSince`. A file
   * that is found stays for the whole time that unused ones do.
   */
  async use(organizationId: string, id: string, now: Date, notedSince: Date): Promise<StoredUpload | null> {
    const stored = { id, organizationId, status: 'stored' } as const;
    const file = await this.database.read((em) => em.findOne(StoredFile, stored));
    if (!file || file.usedAt >= notedSince) return uploadOf(file);
    const isRecorded = await this.update(stored, { usedAt: now });
    return isRecorded ? uploadOf(file) : null;
  }

  /** Ids after `after` of what may go: unused since `unusedSince`, or never finished. In the order of their ids. */
  async removable(unusedSince: Date, unfinishedSince: Date, after: string, limit: number): Promise<readonly string[]> {
    const where = { id: { $gt: after }, ...mayGo(unusedSince, unfinishedSince) };
    const rows = await this.database.read((em) =>
      em.find(StoredFile, where, { fields: ['id'], orderBy: { id: 'asc' }, limit }),
    );
    return rows.map(({ id }) => id);
  }

  /** Takes one away from everybody, unless it was used since; then its content can go. */
  claim(id: string, unusedSince: Date, unfinishedSince: Date): Promise<ContentPlace | null> {
    return this.markRemoved({ id, ...mayGo(unusedSince, unfinishedSince) });
  }

  /** Takes a file away from everybody, used or not; then its content can go. */
  softDelete(organizationId: string, id: string): Promise<ContentPlace | null> {
    return this.markRemoved({ id, organizationId });
  }

  async delete(id: string): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredFile, { id }));
  }

  /** @returns whether there was such a file */
  private async update(where: FilterQuery<FileRow>, data: EntityData<FileRow>): Promise<boolean> {
    return (await this.database.write((em) => em.nativeUpdate(StoredFile, where, data))) > 0;
  }

  private async markRemoved(where: QBFilterQuery<FileRow>): Promise<ContentPlace | null> {
    const rows = await this.database.write((em) =>
      em
        .createQueryBuilder(StoredFile)
        .update({ status: 'removing' })
        .where(where)
        .returning(['id', 'organizationId'])
        .execute<ContentPlace[]>('all'),
    );
    return rows[0] ?? null;
  }
}

function mayGo(unusedSince: Date, unfinishedSince: Date) {
  return {
    $or: [
      { usedAt: { $lt: unusedSince } },
      { status: 'removing' as const },
      { status: 'pending' as const, usedAt: { $lt: unfinishedSince } },
    ],
  };
}

function uploadOf(row: StoredUpload | null | undefined): StoredUpload | null {
  if (!row) return null;
  const { id, organizationId, name, contentType, size } = row;
  return { id, organizationId, name, contentType, size };
}
