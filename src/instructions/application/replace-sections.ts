import { Injectable } from '@nestjs/common';
import type { WriteTarget } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { differenceOf, planSectionUpdate } from '../domain/section-list.js';
import type { Section, SectionText } from '../domain/section.js';
import { SectionRepository } from '../persistence/section.repository.js';
import { type Changed, ChangeSections } from './change-sections.js';

@Injectable()
export class ReplaceSections {
  constructor(
    private readonly database: Database,
    private readonly sections: SectionRepository,
    private readonly changes: ChangeSections,
    private readonly clock: Clock,
  ) {}

  /**
   * Replaces the agent's sections, matched by name. A list that changes nothing costs one read and takes no lock, because
   * callers that synchronize an agent with a file send the same list often.
   * @param seenVersion the agent's version, read before this call
   * @throws DuplicateSectionNames, ExistingDuplicateSectionNames; see `ChangeSections` for the others
   */
  async execute(
    target: WriteTarget,
    seenVersion: number,
    wanted: readonly SectionText[],
  ): Promise<Changed<readonly Section[]>> {
    const current = await this.sections.list(this.database, target);
    const planned = planSectionUpdate(current, wanted, { newId, now: this.clock.now() });
    const versionMatches = target.ifMatch?.includes(seenVersion) ?? true;
    if (versionMatches && !differenceOf(current, planned)) return { result: planned, version: seenVersion };
    return this.changes.write(target, (locked, stamp) => planSectionUpdate(locked, wanted, stamp));
  }
}
