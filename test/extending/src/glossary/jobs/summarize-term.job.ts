import { z } from 'zod';
import { Database } from '../../../../../src/platform/database/index.js';
import { EventBus } from '../../../../../src/platform/events/index.js';
import { type ActiveJob, defineJob, Processor, WorkerHost } from '../../../../../src/platform/jobs/index.js';
import { GlossaryChanged } from '../domain/glossary.events.js';
import { TermRepository } from '../persistence/term.repository.js';

const payload = z.object({ organizationId: z.uuid(), termId: z.uuid() });
type Payload = z.output<typeof payload>;

export const summarizeTerm = defineJob({ name: 'glossary.summarize-term', payload });

@Processor(summarizeTerm.name)
export class SummarizeTerm extends WorkerHost {
  constructor(
    private readonly database: Database,
    private readonly terms: TermRepository,
    private readonly events: EventBus,
  ) {
    super();
  }

  async process({ data: { organizationId, termId } }: ActiveJob<Payload>): Promise<void> {
    await this.database.transaction((transaction) => this.terms.summarize(transaction, organizationId, termId));
    this.events.publish(new GlossaryChanged(organizationId));
  }
}
