import type { RotateSecrets } from '../vault/index.js';
import { type OperatorCommand, readArguments } from './operator-command.js';

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
