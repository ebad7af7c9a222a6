import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { Section } from '../domain/section.js';
import { SectionRepository } from '../persistence/section.repository.js';

@Injectable()
export class ReadSections {
  constructor(
    private readonly database: Database,
    private readonly sections: SectionRepository,
  ) {}

  /** In prompt order. */
  of(organizationId: string, agentId: string): Promise<Section[]> {
    return this.sections.list(this.database, { organizationId, agentId });
  }
}
