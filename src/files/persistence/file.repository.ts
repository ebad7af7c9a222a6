import type { EntityData, FilterQuery, InferEntity } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { StoredUpload } from '../domain/file.js';
import { StoredFile } from './files.schema.js';

type FileRow = InferEntity<typeof StoredFile>;

/** The fields that `storageKey` needs. */
export type StoredContent = Pick<StoredUpload, 'id' | 'organizationId'>;

/**
 * Each write is one statement whose condition names the expected status, because no transaction can include the content, which is
 * in the file store.
 */
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

  /**
   * Finds a file of the organization and records its use, unless a use since `recordedSince` is already recorded. So a file that is
   * found is not removed as unused for about the whole period.
   */
  async use(organizationId: string, id: string, now: Date, recordedSince: Date): Promise<StoredUpload | null> {
    const stored = { id, organizationId, status: 'stored' } as const;
    const file = await this.database.read((em) => em.findOne(StoredFile, stored));
    if (!file || file.usedAt >= recordedSince) return file;
    return (await this.update(stored, { usedAt: now })) ? file : null;
  }

  /** Removable files with ids after `after`, in order: unused since `unusedSince`, or never finished. */
  async removable(
    unusedSince: Date,
    unfinishedSince: Date,
    after: string,
    limit: number,
  ): Promise<readonly StoredContent[]> {
    const where = { id: { $gt: after }, ...isRemovable(unusedSince, unfinishedSince) };
    return this.database.read((em) =>
      em.find(StoredFile, where, { fields: ['id', 'organizationId'], orderBy: { id: 'asc' }, limit }),
    );
  }

  /** Makes a file invisible before its content is removed. @returns false when it has been used since */
  claim(id: string, unusedSince: Date, unfinishedSince: Date): Promise<boolean> {
    return this.update({ id, ...isRemovable(unusedSince, unfinishedSince) }, { status: 'removing' });
  }

  /** As `claim`, for a file that may have been used. */
  softDelete(organizationId: string, id: string): Promise<boolean> {
    return this.update({ id, organizationId }, { status: 'removing' });
  }

  async delete(id: string): Promise<void> {
    await this.database.write((em) => em.nativeDelete(StoredFile, { id }));
  }

  /** @returns whether a file matched */
  private async update(where: FilterQuery<FileRow>, data: EntityData<FileRow>): Promise<boolean> {
    return (await this.database.write((em) => em.nativeUpdate(StoredFile, where, data))) > 0;
  }
}

function isRemovable(unusedSince: Date, unfinishedSince: Date) {
  return {
    $or: [
      { usedAt: { $lt: unusedSince } },
      { status: 'removing' as const },
      { status: 'pending' as const, usedAt: { $lt: unfinishedSince } },
    ],
  };
}
