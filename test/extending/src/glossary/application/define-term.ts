import { Injectable } from '@nestjs/common';
import { Database } from '../../../../../src/platform/database/index.js';
import { EventBus } from '../../../../../src/platform/events/index.js';
import { Outbox } from '../../../../../src/platform/jobs/index.js';
import { GlossaryChanged } from '../domain/glossary.events.js';
import { summarizeTerm } from '../jobs/summarize-term.job.js';
import { TermRepository } from '../persistence/term.repository.js';

/** Says what a word means, in place of what was said of it before. */
@Injectable()
export class DefineTerm {
  constructor(
    private readonly database: Database,
    private readonly terms: TermRepository,
    private readonly outbox: Outbox,
    private readonly events: EventBus,
  ) {}

  /** @returns the id of the term; its summary follows */
  async execute(organizationId: string, name: string, definition: string): Promise<string> {
    const termId = await this.database.transaction(async (transaction) => {
      const id = await this.terms.define(transaction, organizationId, name, definition);
      await this.outbox.enqueue(transaction, summarizeTerm, { organizationId, termId: id }, { dedupeKey: id });
      return id;
    });
    this.events.publish(new GlossaryChanged(organizationId));
    return termId;
  }
}
