import { Injectable } from '@nestjs/common';
import { AgentNotFound } from '../../../agents/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { Database } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { WebsiteUnsupported } from '../domain/website.errors.js';
import type { SiteConfig } from '../domain/website-configs.js';
import { type Website, WebsiteRepository } from '../persistence/website.repository.js';
import { StartCrawl } from './start-crawl.js';

/** Replaces the list of an agent's websites and crawls them. */
@Injectable()
export class SetWebsite {
  constructor(
    private readonly database: Database,
    private readonly websites: WebsiteRepository,
    private readonly startCrawl: StartCrawl,
    private readonly index: DocumentIndex,
  ) {}

  /**
   * Sites that stay keep their selection; new ones begin with their root page; the others' pages leave the index.
   * @returns as the crawl begins
   * @throws AgentNotFound, WebsiteUnsupported
   */
  async execute(
    organizationId: string,
    agentId: string,
    configs: readonly SiteConfig[],
  ): Promise<Website & StoreUsage> {
    const website = await this.database.transaction(async (transaction) => {
      const type = await this.websites.lockAgent(transaction, organizationId, agentId);
      if (type === null) throw new AgentNotFound();
      if (type === 'classic') throw new WebsiteUnsupported();
      // Writes of the same agent's websites wait here: each sees what the one before has made of the sites.
      await this.startCrawl.execute(transaction, organizationId, agentId, configs.length > 0);
      const before = await this.websites.roots(transaction, organizationId, agentId);
      const roots = configs.map(({ rootUrl, excludedUrls }) => {
        const kept = before.find((root) => root.rootUrl === rootUrl);
        return { id: kept?.id ?? newId(), rootUrl, excludedUrls, selectedUrls: kept?.selectedUrls ?? [rootUrl] };
      });
      await this.websites.replaceRoots(transaction, organizationId, agentId, roots);
      // In here: a moment later the crawl may have ended.
      return this.websites.find(organizationId, agentId, transaction);
    });
    if (!website) throw new AgentNotFound();
    return { ...website, ...(await this.index.usageOf(organizationId, agentId, 'website')) };
  }
}
