import { migrate } from '../database/index.js';
import type { CommandHandler } from './operator-command.js';

export const migrateTables: CommandHandler = async ({ open, printProgress }) => ({
  migrations: await migrate(open, () => printProgress?.('waiting for another process that is migrating the database')),
});

export const rotateSecrets: CommandHandler = (kernel) => kernel.rotateSecrets().execute();

export const forgetSecrets: CommandHandler = (kernel) => kernel.rotateSecrets().forget();
