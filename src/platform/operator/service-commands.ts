import { migrate } from '../database/index.js';
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

/** Brings every secret under a new master key. */
export function rotateSecretsCommand({ rotateSecrets }: OperatorKernel): OperatorCommand {
  return {
    name: 'secrets rotate',
    usage: 'secrets rotate',
    run: async (args) => {
      readArguments(args, { options: [] });
      return rotateSecrets().execute();
    },
  };
}
