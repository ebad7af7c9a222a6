import type { OperatorCommand } from '../../../platform/command-line/index.js';

export const websiteCommands: readonly OperatorCommand[] = [
  {
    name: 'website select',
    about:
      "Selects the pages of an agent's website and crawls it again; without pages the crawl starts at the root page and follows links.",
    positionals: ['agentId', 'rootUrl', 'url...'],
    handler: async () => (await import('./website-handlers.js')).selectPages,
  },
];
