import { Outbox } from '../../../platform/jobs/index.js';
import { type CommandHandler, idArgument } from '../../../platform/command-line/index.js';
import { WebsiteRepository } from '../persistence/website.repository.js';
import { SelectPages } from '../application/select-pages.js';
import { StartCrawl } from '../application/start-crawl.js';

export const selectPages: CommandHandler = async ({ open, clock }, { positionals }) => {
  const [agentId, rootUrl = '', ...urls] = positionals;
  const id = idArgument('agentId', agentId);
  const websites = new WebsiteRepository(open.database);
  const useCase = new SelectPages(open.database, websites, new StartCrawl(websites, new Outbox(clock), clock));
  const root = await useCase.execute(id, rootUrl, urls);
  return { agentId: id, rootUrl: root.rootUrl, selectedUrls: root.selectedUrls, state: 'IN_PROGRESS' };
};
