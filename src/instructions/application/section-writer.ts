import { Injectable } from '@nestjs/common';
import type { FieldChange } from '../../agents/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { changesBetween } from '../domain/section-changes.js';
import { differenceOf } from '../domain/section-list.js';
import type { Section } from '../domain/section.js';
import { SectionRepository, type SectionsOwner } from '../persistence/section.repository.js';

@Injectable()
export class SectionWriter {
  constructor(private readonly sections: SectionRepository) {}

  /** Writes only when the lists differ. @returns the differences for the agent's history */
  async replace(
    transaction: Transaction,
    owner: SectionsOwner,
    before: readonly Section[],
    after: readonly Section[],
  ): Promise<FieldChange[]> {
    const difference = differenceOf(before, after);
    if (!difference) return [];
    await this.sections.store(transaction, owner, after, difference);
    return changesBetween(before, after);
  }
}
