import { DomainEvent } from '../../../platform/events/index.js';

/** A sync of a source ended, with documents or without: its websites were crawled, or the files of a drive were read. */
export class KnowledgeSyncFinished extends DomainEvent {
  constructor(
    readonly organizationId: string,
    readonly agentId: string,
    /** The same at each sync of the source. */
    readonly sourceId: string,
    readonly at: Date,
  ) {
    super();
  }
}
