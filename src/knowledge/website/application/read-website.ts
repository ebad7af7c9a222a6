import { Injectable } from '@nestjs/common';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { WebsiteNotSet } from '../domain/website.errors.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { type Website, WebsiteRepository } from '../persistence/website.repository.js';

@Injectable()
export class ReadWebsite {
  constructor(
    private readonly websites: WebsiteRepository,
    private readonly index: DocumentIndex,
  ) {}

  /** @throws WebsiteNotSet */
  async execute(organizationId: string, agentId: string): Promise<Website & StoreUsage> {
    const website = await this.websites.find(organizationId, agentId);
    if (!website) throw new WebsiteNotSet();
    return { ...website, ...(await this.index.measureUsage(organizationId, agentId, 'website')) };
  }
}
