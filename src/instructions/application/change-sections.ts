import { Injectable } from '@nestjs/common';
import { AgentNotFound, AgentWrites, type Changed, type WriteTarget } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { newId } from '../../platform/ids/index.js';
import { AgentWithSectionsNotFound } from '../domain/instructions.errors.js';
import {
  appendSection,
  changeSection,
  differenceOf,
  findSection,
  planSectionUpdate,
  removeSection,
  type Stamp,
} from '../domain/section-list.js';
import type { Section, SectionText } from '../domain/section.js';
import { SectionRepository } from '../persistence/section.repository.js';

/** Computes the new sections from the present ones. Called again when the transaction is retried. */
type SectionPlan = (current: readonly Section[], stamp: Stamp) => readonly Section[];

/**
 * Writes of sections. Those of one agent are serialized, and each that changes something creates one version of the agent. All
 * of them throw `AgentWithSectionsNotFound` and `VersionConflict`.
 */
@Injectable()
export class ChangeSections {
  constructor(
    private readonly database: Database,
    private readonly writes: AgentWrites,
    private readonly sections: SectionRepository,
    private readonly clock: Clock,
  ) {}

  /**
   * Replaces the agent's sections, matched by name. A list that changes nothing costs one read and takes no lock, because
   * callers that synchronize an agent with a file send the same list often.
   * @param seenVersion the agent's version, read before this call
   * @throws DuplicateSectionNames, ExistingDuplicateSectionNames
   */
  async replace(
    target: WriteTarget,
    seenVersion: number,
    wanted: readonly SectionText[],
  ): Promise<Changed<readonly Section[]>> {
    const current = await this.sections.list(this.database, target);
    const planned = planSectionUpdate(current, wanted, { newId, now: this.clock.now() });
    const versionMatches = target.ifMatch?.includes(seenVersion) ?? true;
    if (versionMatches && !differenceOf(current, planned)) return { result: planned, version: seenVersion };
    return this.write(target, (locked, stamp) => planSectionUpdate(locked, wanted, stamp));
  }

  /** @throws SectionNameTaken */
  async append(target: WriteTarget, text: SectionText): Promise<Changed<Section>> {
    const id = newId();
    const { result, version } = await this.write(target, (current, { now }) =>
      appendSection(current, text, { newId: () => id, now }),
    );
    return { result: findSection(result, id), version };
  }

  /** @throws SectionNotFound, SectionNameTaken */
  async change(target: WriteTarget, id: string, change: Partial<SectionText>): Promise<Changed<Section>> {
    const { result, version } = await this.write(target, (current, { now }) => changeSection(current, id, change, now));
    return { result: findSection(result, id), version };
  }

  /** @throws SectionNotFound */
  async remove(target: WriteTarget, id: string): Promise<Changed<readonly Section[]>> {
    return this.write(target, (current) => removeSection(current, id));
  }

  private async write(target: WriteTarget, plan: SectionPlan): Promise<Changed<readonly Section[]>> {
    try {
      return await this.writes.change(target, async (transaction) => {
        const before = await this.sections.list(transaction, target);
        const after = plan(before, { newId, now: this.clock.now() });
        return { result: after, changes: await this.sections.replace(transaction, target, before, after) };
      });
    } catch (error) {
      // The agent was deleted after the guard found it.
      if (error instanceof AgentNotFound) throw new AgentWithSectionsNotFound();
      throw error;
    }
  }
}
