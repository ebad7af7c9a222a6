import type { OperatorCommand } from './operator-command.js';

/** The commands for the service as a whole. */
export const serviceCommands: readonly OperatorCommand[] = [
  {
    name: 'migrate',
    about: 'Runs the pending migrations of the database; answers their names.',
    handler: async () => (await import('./service-handlers.js')).migrateTables,
  },
  {
    name: 'secrets rotate',
    about: 'Encrypts every stored secret again, under the current master key.',
    handler: async () => (await import('./service-handlers.js')).rotateSecrets,
  },
];
