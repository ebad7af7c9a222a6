import { Injectable } from '@nestjs/common';
import { AgentNotFound, AgentWrites, type WriteTarget } from '../../agents/index.js';
import { Clock } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { AgentWithSectionsNotFound } from '../domain/instructions.errors.js';
import { appendSection, changeSection, findSection, removeSection, type Stamp } from '../domain/section-list.js';
import type { Section, SectionText } from '../domain/section.js';
import { SectionRepository } from '../persistence/section.repository.js';
import { SectionWriter } from './section-writer.js';

export interface Changed<Result> {
  readonly result: Result;
  /** The agent's version after the write. */
  readonly version: number;
}

/** Computes the new sections from the present ones. Called again when the transaction is retried. */
export type SectionPlan = (current: readonly Section[], stamp: Stamp) => readonly Section[];

/**
 * Writes of sections. Those of one agent are serialized, and each that changes something creates one version of the agent. All
 * of them throw `AgentWithSectionsNotFound` and `VersionConflict`.
 */
@Injectable()
export class ChangeSections {
  constructor(
    private readonly writes: AgentWrites,
    private readonly sections: SectionRepository,
    private readonly writer: SectionWriter,
    private readonly clock: Clock,
  ) {}

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

  /** @returns the stored sections */
  async write(target: WriteTarget, plan: SectionPlan): Promise<Changed<readonly Section[]>> {
    try {
      return await this.writes.change(target, async (transaction) => {
        const before = await this.sections.list(transaction, target);
        const after = plan(before, { newId, now: this.clock.now() });
        return { result: after, changes: await this.writer.replace(transaction, target, before, after) };
      });
    } catch (error) {
      // The agent was deleted after the guard found it.
      if (error instanceof AgentNotFound) throw new AgentWithSectionsNotFound();
      throw error;
    }
  }
}
