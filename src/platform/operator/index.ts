export {
  type CommandArguments,
  listOption,
  type OperatorCommand,
  type OperatorKernel,
  readArguments,
  requiredOption,
  runCommand,
  UsageError,
} from './operator-command.js';
export { migrateCommand, rotateSecretsCommand } from './service-commands.js';
export { type OperatorLine, runOperatorLine } from './operator-line.js';
export { type OperatorAnswer } from './operator-protocol.js';
export { OperatorServer } from './operator-server.js';
