import { Injectable } from '@nestjs/common';
import { type FieldChange, type VersionedPart, VersionedParts } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { Transaction } from '../../platform/database/index.js';
import { SECTIONS_FIELD } from '../domain/section-changes.js';
import { type RememberedSection, rememberedSections, restoreSections } from '../domain/section-list.js';
import { SectionRepository } from '../persistence/section.repository.js';

@Injectable()
export class SectionsVersionPart implements VersionedPart<typeof rememberedSections> {
  readonly field = SECTIONS_FIELD;
  readonly stored = rememberedSections;

  constructor(
    private readonly sections: SectionRepository,
    private readonly clock: Clock,
    parts: VersionedParts,
  ) {
    parts.register(this);
  }

  async snapshot(source: Transaction, organizationId: string, agentId: string): Promise<RememberedSection[]> {
    const sections = await this.sections.list(source, { organizationId, agentId });
    return sections.map(({ id, name, content }) => ({ id, name, content }));
  }

  async restore(
    transaction: Transaction,
    organizationId: string,
    agentId: string,
    snapshot: readonly RememberedSection[] | null,
  ): Promise<readonly FieldChange[]> {
    const owner = { organizationId, agentId };
    const before = await this.sections.list(transaction, owner);
    return this.sections.replace(transaction, owner, before, restoreSections(before, snapshot ?? [], this.clock.now()));
  }
}
