import type { OperatorCommand } from '../../platform/command-line/index.js';

export const agentCommands: readonly OperatorCommand[] = [
  {
    name: 'agent set',
    about: 'Changes the settings of an agent that only the operator can change.',
    positionals: ['id'],
    options: [
      { name: 'disable-interactive-prompts', value: 'true|false', about: 'true keeps its runs from asking the user' },
      { name: 'type', value: 'classic|standard', about: 'makes it an agent of this type' },
    ],
    handler: async () => (await import('./agent-handlers.js')).setAgent,
  },
];
