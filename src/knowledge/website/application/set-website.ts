import { Injectable } from '@nestjs/common';
import { AgentNotFound, lockAgent } from '../../../agents/index.js';
import type { StoreUsage } from '../../index/domain/source-kind.js';
import { DocumentIndex } from '../../index/application/indexing/document-index.js';
import { Database } from '../../../platform/database/index.js';
import { newId } from '../../../platform/ids/index.js';
import { WebsiteUnsupported } from '../domain/website.errors.js';
import type { SiteConfig } from '../domain/website-configs.js';
import { type Website, WebsiteRepository } from '../persistence/website.repository.js';
import { StartCrawl } from './start-crawl.js';

/** Replaces the list of an agent's websites and starts a crawl. */
@Injectable()
export class SetWebsite {
  constructor(
    private readonly database: Database,
    private readonly websites: WebsiteRepository,
    private readonly startCrawl: StartCrawl,
    private readonly index: DocumentIndex,
  ) {}

  /**
   * A site that was listed before keeps its selected pages; a new one begins with its root page. The crawl removes the pages of
   * sites that are no longer listed.
   * @throws AgentNotFound, WebsiteUnsupported
   */
  async execute(
    organizationId: string,
    agentId: string,
    configs: readonly SiteConfig[],
  ): Promise<Website & StoreUsage> {
    const website = await this.database.transaction(async (transaction) => {
      const type = await lockAgent(transaction, organizationId, agentId, 'shared');
      if (type === null) throw new AgentNotFound();
      if (type === 'classic') throw new WebsiteUnsupported();
      // Locks the website's row: concurrent requests wait here, and each reads the sites that the one before has stored.
      await this.startCrawl.execute(transaction, organizationId, agentId, configs.length > 0);
      const before = await this.websites.roots(transaction, organizationId, agentId);
      const roots = configs.map(({ rootUrl, excludedUrls }) => {
        const kept = before.find((root) => root.rootUrl === rootUrl);
        return { id: kept?.id ?? newId(), rootUrl, excludedUrls, selectedUrls: kept?.selectedUrls ?? [rootUrl] };
      });
      await this.websites.replaceRoots(transaction, organizationId, agentId, roots);
      // In the transaction: after the commit the crawl may end before the read.
      return this.websites.find(organizationId, agentId, transaction);
    });
    if (!website) throw new AgentNotFound();
    return { ...website, ...(await this.index.measureUsage(organizationId, agentId, 'website')) };
  }
}
