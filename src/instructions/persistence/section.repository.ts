import type { InferEntity } from '@mikro-orm/core';
import { Injectable } from '@nestjs/common';
import { type EntityReader, inBatches, type Transaction } from '../../platform/database/index.js';
import type { Section } from '../domain/section.js';
import type { SectionDifference } from '../domain/section-list.js';
import { StoredSection } from './instructions.schema.js';

/** Whose sections. */
export interface SectionsOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** What one write costs grows with the size of what is written, and not with the number of sections. */
@Injectable()
export class SectionRepository {
  /** In prompt order, numbered from 0. */
  async list(source: EntityReader, { organizationId, agentId }: SectionsOwner): Promise<Section[]> {
    const rows = await source.read((em) =>
      em.find(
        StoredSection,
        { organizationId, agentId },
        { orderBy: [{ position: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }] },
      ),
    );
    return rows.map(toSection);
  }

  /**
   * Stores the list `sections`, which differs from the stored one, listed in this transaction, as `difference` says.
   */
  async store(
    { em }: Transaction,
    { organizationId, agentId }: SectionsOwner,
    sections: readonly Section[],
    { added, rewritten, removed, reordered }: SectionDifference,
  ): Promise<void> {
    if (removed.length > 0) {
      const id = { $in: removed.map((section) => section.id) };
      await em.nativeDelete(StoredSection, { organizationId, agentId, id });
    }
    // Not through the unit of work, which would compare megabytes again with every flush that follows.
    for (const batch of inBatches(added, bytesOf)) {
      await em.insertMany(StoredSection, batch.map((section) => ({ ...section, organizationId, agentId })));
    }
    for (const batch of inBatches(rewritten, bytesOf)) {
      for (const { id, name, content, updatedAt } of batch) {
        Object.assign(em.getReference(StoredSection, id), { name, content, updatedAt });
      }
      await em.flush();
    }
    if (!reordered) return;
    const isNew = new Set(added);
    for (const section of sections) {
      if (isNew.has(section)) continue;
      const { id, position, updatedAt } = section;
      Object.assign(em.getReference(StoredSection, id), { position, updatedAt });
    }
    await em.flush();
  }
}

function bytesOf({ content }: Section): number {
  return Buffer.byteLength(content);
}

function toSection({ id, name, content, createdAt, updatedAt }: InferEntity<typeof StoredSection>, position: number): Section {
  return { id, name, content, position, createdAt, updatedAt };
}
