import type { EntityData, FilterQuery, InferEntity } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { StoredUpload } from '../domain/file.js';
import { REMOVE_BATCH, UNFINISHED_MS, UNUSED_MS, USE_PRECISION_MS } from '../limits.js';
import { StoredFile } from './files.schema.js';

type FileRow = InferEntity<typeof StoredFile>;

export type StoredContent = Pick<StoredUpload, 'id' | 'organizationId'>;

/** Each write is one conditional statement, because no transaction includes the content, which is in the file store. */
@Injectable()
export class FileRepository {
  constructor(private readonly database: Database) {}

  /** The row exists, but no query returns it until `finish`. */
  async begin(file: StoredUpload, now: Date): Promise<void> {
    await this.database.write((em) =>
      em.insert(StoredFile, { ...file, status: 'pending', createdAt: now, usedAt: now }),
    );
  }

  /** @returns false when the upload has been removed as abandoned */
  async finish(id: string): Promise<boolean> {
    return this.update({ id, status: 'pending' }, { status: 'stored' });
  }

  /** Of any organization, for a signed URL. */
  async find(id: string): Promise<StoredUpload | null> {
    return this.database.read((em) => em.findOne(StoredFile, { id, status: 'stored' }));
  }

  /** Finds a file and records its use, which postpones its removal, unless a use within `USE_PRECISION_MS` is recorded. */
  async use(organizationId: string, id: string, now: Date): Promise<StoredUpload | null> {
    const stored = { id, organizationId, status: 'stored' } as const;
    const file = await this.database.read((em) => em.findOne(StoredFile, stored));
    if (!file || file.usedAt >= before(now, USE_PRECISION_MS)) return file;
    return (await this.update(stored, { usedAt: now })) ? file : null;
  }

  /** A batch of unused or never finished files, in order. @param after the last id of the batch before */
  async removable(now: Date, after: string): Promise<readonly StoredContent[]> {
    const where = { id: { $gt: after }, ...isRemovable(now) };
    return this.database.read((em) =>
      em.find(StoredFile, where, { fields: ['id', 'organizationId'], orderBy: { id: 'asc' }, limit: REMOVE_BATCH }),
    );
  }

  /** Makes a file invisible before its content is removed. @returns false when it has been used since */
  claim(id: string, now: Date): Promise<boolean> {
    return this.update({ id, ...isRemovable(now) }, { status: 'removing' });
  }

  /** As `claim`, for a file that may have been used. */
  softDelete(organizationId: string, id: string): Promise<boolean> {
    return this.update({ id, organizationId }, { status: 'removing' });
  }

  async delete(id: string): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredFile, { id }));
  }

  private async update(where: FilterQuery<FileRow>, data: EntityData<FileRow>): Promise<boolean> {
    return (await this.database.write((em) => em.nativeUpdate(StoredFile, where, data))) > 0;
  }
}

function before(now: Date, ms: number): Date {
  return new Date(now.getTime() - ms);
}

function isRemovable(now: Date) {
  return {
    $or: [
      { usedAt: { $lt: before(now, UNUSED_MS) } },
      { status: 'removing' as const },
      { status: 'pending' as const, usedAt: { $lt: before(now, UNFINISHED_MS) } },
    ],
  };
}
