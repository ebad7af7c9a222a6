import type { OperatorCommand } from './operator-command.js';

/** The commands for the service as a whole. */
export const serviceCommands: readonly OperatorCommand[] = [
  {
    name: 'migrate',
    about: 'Runs the pending migrations of the database; answers their names.',
    keepsSchema: true,
    handler: async () => (await import('./service-handlers.js')).migrateTables,
  },
  {
    name: 'secrets rotate',
    about: 'Encrypts every stored secret again, under the current master key.',
    handler: async () => (await import('./service-handlers.js')).rotateSecrets,
  },
  {
    name: 'secrets forget',
    about: 'Removes the stored secrets whose master key is lost, which keep the service from starting.',
    handler: async () => (await import('./service-handlers.js')).forgetSecrets,
  },
];
