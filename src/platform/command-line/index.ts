export { helpOn, helpOnAll, helpTopic } from './command-help.js';
export { commandIn, readLine, runCommand, unknownCommand, withAbsolutePaths } from './command-line.js';
export {
  type CommandArguments,
  type CommandHandler,
  type CommandOption,
  type FolderHandler,
  idArgument,
  listOption,
  type OperatorCommand,
  type OperatorKernel,
  requiredOption,
  UsageError,
} from './operator-command.js';
export { serviceCommands } from './service-commands.js';
