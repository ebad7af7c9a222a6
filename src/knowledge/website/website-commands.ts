import { ValidationFailed } from '../../platform/errors/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { writeJob } from '../../platform/jobs/index.js';
import { type OperatorCommand, type OperatorKernel, UsageError } from '../../platform/operator/index.js';
import { WebsiteRepository } from '../persistence/website.repository.js';
import { SelectPages } from './select-pages.js';
import { type JobWriter, StartCrawl } from './start-crawl.js';

/** The operator's commands for websites. They are made without the framework. */
export function websiteCommands({ open, clock }: OperatorKernel): OperatorCommand[] {
  const websites = new WebsiteRepository(open.database);
  const jobs: JobWriter = {
    enqueue: (transaction, job, payload, options) => writeJob(transaction, clock, job, payload, options),
  };
  return [selectCommand(new SelectPages(open.database, websites, new StartCrawl(websites, jobs, clock)))];
}

function selectCommand(useCase: SelectPages): OperatorCommand {
  return {
    name: 'website select',
    usage: 'website select <agentId> <rootUrl> [<url>...]',
    run: async (args) => {
      const [agentId, rootUrl, ...urls] = args;
      if (agentId === undefined || rootUrl === undefined || args.some((word) => word.startsWith('--'))) {
        throw new UsageError('expected <agentId> <rootUrl> [<url>...]');
      }
      const id = agentId.toLowerCase();
      if (!isUuid(id)) throw new ValidationFailed(`agentId: '${agentId}' is not an id (a UUID)`);
      const root = await useCase.execute(id, rootUrl, urls);
      return { agentId: id, rootUrl: root.rootUrl, selectedUrls: root.selectedUrls, state: 'IN_PROGRESS' };
    },
  };
}
