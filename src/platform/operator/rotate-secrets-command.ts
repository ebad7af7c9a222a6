import { type OperatorCommand, type OperatorKernel, readArguments } from './operator-command.js';

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
