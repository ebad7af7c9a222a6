import type { OperatorCommand } from './operator-command.js';

/** The commands for the service as a whole. */
export const serviceCommands: readonly OperatorCommand[] = [
  {
    name: 'migrate',
    about: 'Brings the tables of the database up to date; answers the steps that ran.',
    handler: async () => (await import('./service-handlers.js')).migrateTables,
  },
  {
    name: 'secrets rotate',
    about: 'Encrypts every stored secret again, under the current master key.',
    handler: async () => (await import('./service-handlers.js')).rotateSecrets,
  },
];
