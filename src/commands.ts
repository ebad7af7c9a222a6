import { accessCommands } from './access/operator/access-commands.js';
import { agentCommands } from './agents/operator/agent-commands.js';
import { websiteCommands } from './knowledge/website/operator/website-commands.js';
import { backupCommands } from './platform/backup/backup-commands.js';
import { type OperatorCommand, serviceCommands } from './platform/command-line/index.js';
import { jobCommands } from './platform/jobs/jobs-commands.js';

/** The operator's commands. */
export const commands: readonly OperatorCommand[] = [
  ...serviceCommands,
  ...backupCommands,
  ...jobCommands,
  ...accessCommands,
  ...agentCommands,
  ...websiteCommands,
];
