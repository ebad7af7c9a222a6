import { AgentNotFound, lockAgent } from '../../../agents/index.js';
import type { Database } from '../../../platform/database/index.js';
import { ValidationFailed } from '../../../platform/errors/index.js';
import { CrawlScope } from '../domain/crawl-scope.js';
import { WebsiteNotSet } from '../domain/website.errors.js';
import type { WebsiteRoot } from '../domain/website-root.js';
import { canonicalRoot } from '../domain/website-url.js';
import type { WebsiteRepository } from '../persistence/website.repository.js';
import { MAX_SELECTED } from '../limits.js';
import type { StartCrawl } from './start-crawl.js';

/** Selects the pages of one site and starts a crawl. For operators, who may select in any organization. */
export class SelectPages {
  constructor(
    private readonly database: Database,
    private readonly websites: WebsiteRepository,
    private readonly startCrawl: StartCrawl,
  ) {}

  /**
   * @param urls where empty, the crawl begins at the root page and follows links
   * @throws AgentNotFound, WebsiteNotSet, ValidationFailed naming the address that is not in the site
   */
  async execute(agentId: string, rootUrl: string, urls: readonly string[]): Promise<WebsiteRoot> {
    return this.database.transaction(async (transaction) => {
      const organizationId = await this.websites.organizationOf(transaction, agentId);
      if (organizationId === null) throw new WebsiteNotSet();
      if ((await lockAgent(transaction, organizationId, agentId, 'shared')) === null) throw new AgentNotFound();
      const href = canonicalRoot(rootUrl)?.href;
      await this.startCrawl.execute(transaction, organizationId, agentId, true);
      const root = (await this.websites.roots(transaction, organizationId, agentId)).find(
        (known) => known.rootUrl === href,
      );
      if (!root) throw new ValidationFailed(`rootUrl: '${rootUrl}' is not a root of the agent's websites`);
      const selectedUrls = urls.length === 0 ? [root.rootUrl] : selectedPages(root, urls);
      await this.websites.setSelection(transaction, organizationId, agentId, root.id, selectedUrls);
      return { ...root, selectedUrls };
    });
  }
}

function selectedPages(root: WebsiteRoot, urls: readonly string[]): string[] {
  if (urls.length > MAX_SELECTED) throw new ValidationFailed(`url: at most ${MAX_SELECTED} pages can be selected`);
  // With the root selected, the scope holds every page below it that is not excluded.
  const scope = new CrawlScope([{ ...root, selectedUrls: [root.rootUrl] }]);
  const pages = urls.map((url) => {
    const page = scope.pageAt(url);
    if (!page) throw new ValidationFailed(`url: '${url}' is not a page below ${root.rootUrl}, or it is excluded`);
    return page.url;
  });
  return [...new Set(pages)];
}
