export { helpOn, helpOnAll, helpTopic } from './command-help.js';
export { idArgument } from './id-argument.js';
export { commandIn, readLine, runCommand, unknownCommand } from './command-line.js';
export {
  type CommandArguments,
  type CommandHandler,
  type CommandOption,
  listOption,
  type OperatorCommand,
  type OperatorKernel,
  requiredOption,
  UsageError,
} from './operator-command.js';
export { serviceCommands } from './service-commands.js';
