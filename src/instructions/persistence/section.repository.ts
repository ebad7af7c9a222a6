import { Injectable } from '@nestjs/common';
import type { FieldChange } from '../../agents/index.js';
import { type EntityReader, inBatches, type Transaction } from '../../platform/database/index.js';
import type { Section } from '../domain/section.js';
import { changesBetween } from '../domain/section-changes.js';
import { differenceOf, type SectionDifference } from '../domain/section-list.js';
import { StoredSection } from './instructions.schema.js';

export interface SectionsOwner {
  readonly organizationId: string;
  readonly agentId: string;
}

/** The cost of a write depends on the size of what it writes, not on the number of sections. */
@Injectable()
export class SectionRepository {
  /** In prompt order, numbered from 0. Plain rows, because entities of 500 sections double the cost of the statement. */
  async list(source: EntityReader, { organizationId, agentId }: SectionsOwner): Promise<Section[]> {
    const rows = await source.read((em) =>
      em
        .createQueryBuilder(StoredSection)
        .select(['id', 'name', 'content', 'createdAt', 'updatedAt'])
        .where({ organizationId, agentId })
        .orderBy([{ position: 'asc' }, { createdAt: 'asc' }, { id: 'asc' }])
        .execute('all'),
    );
    return rows.map((row, position) => ({ ...row, position }));
  }

  /** Writes only when the lists differ. @returns the differences for the agent's history */
  async replace(
    transaction: Transaction,
    owner: SectionsOwner,
    before: readonly Section[],
    after: readonly Section[],
  ): Promise<FieldChange[]> {
    const difference = differenceOf(before, after);
    if (!difference) return [];
    await this.store(transaction, owner, after, difference);
    return changesBetween(before, after);
  }

  private async store(
    { em }: Transaction,
    { organizationId, agentId }: SectionsOwner,
    sections: readonly Section[],
    { added, rewritten, removed, reordered }: SectionDifference,
  ): Promise<void> {
    if (removed.length > 0) {
      const id = { $in: removed.map((section) => section.id) };
      await em.nativeDelete(StoredSection, { organizationId, agentId, id });
    }
    // Not through the unit of work, which would compare megabytes in every following flush.
    for (const batch of inBatches(added, bytesOf)) {
      await em.insertMany(
        StoredSection,
        batch.map((section) => ({ ...section, organizationId, agentId })),
      );
    }
    for (const batch of inBatches(rewritten, bytesOf)) {
      for (const { id, name, content, position, updatedAt } of batch) {
        const row = em.getReference(StoredSection, id);
        Object.assign(row, { name, content, updatedAt }, reordered && { position });
      }
      await em.flush();
    }
    if (!reordered || added.length === sections.length) return;
    // Compared with the stored positions, which may have gaps and ties, so that only rows that differ are written.
    const rows = await em.find(StoredSection, { organizationId, agentId }, { fields: ['position', 'updatedAt'] });
    const byId = new Map(sections.map((section) => [section.id, section]));
    for (const row of rows) {
      const section = byId.get(row.id);
      if (section) Object.assign(row, { position: section.position, updatedAt: section.updatedAt });
    }
    await em.flush();
  }
}

function bytesOf({ content }: Section): number {
  return Buffer.byteLength(content);
}
