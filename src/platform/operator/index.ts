export { messageOf } from './failure.js';
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
export { migrateCommand } from './migrate-command.js';
export { rotateSecretsCommand } from './rotate-secrets-command.js';
export { askService } from './operator-client.js';
export { type OperatorLine, runOperatorLine } from './operator-line.js';
export { type OperatorAnswer } from './operator-protocol.js';
export { OperatorServer } from './operator-server.js';
