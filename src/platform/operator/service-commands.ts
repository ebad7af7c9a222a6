import { migrate } from '../database/index.js';
import type { RotateSecrets } from '../vault/index.js';
import { type OperatorCommand, type OperatorKernel, readArguments } from './operator-command.js';

/** Brings the tables up to date; answers the names of the steps that ran. */
export function migrateCommand({ open, tell }: OperatorKernel): OperatorCommand {
  return {
    name: 'migrate',
    usage: 'migrate',
    run: async (args) => {
      readArguments(args, { options: [] });
      return { migrations: await migrate(open, () => tell?.('waiting for another process that is migrating the database')) };
    },
  };
}

/**
 * Brings every secret under a new master key.
 * @param rotateSecrets asked for when the command runs, since only this one needs the keys
 */
export function rotateSecretsCommand(rotateSecrets: () => RotateSecrets): OperatorCommand {
  return {
    name: 'secrets rotate',
    usage: 'secrets rotate',
    run: async (args) => {
      readArguments(args, { options: [] });
      return rotateSecrets().execute();
    },
  };
}
