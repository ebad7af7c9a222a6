import type { OperatorCommand } from '../../platform/command-line/index.js';

/** The operator's commands for websites. */
export const websiteCommands: readonly OperatorCommand[] = [
  {
    name: 'website select',
    about: "Picks the pages of an agent's website and crawls it again; without any, the root page, from which links are followed.",
    positionals: ['agentId', 'rootUrl', 'url...'],
    handler: async () => (await import('./website-handlers.js')).selectPages,
  },
];
