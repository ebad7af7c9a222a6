import { commands } from './commands.js';
import type { Clock } from './platform/clock/index.js';
import { readLine, runCommand } from './platform/command-line/index.js';
import type { Settings } from './platform/config/index.js';
import { requireDatabaseIn } from './platform/database/data-folder.js';
import {
  migrate,
  migrationsOf,
  type OpenDatabase,
  openDatabase,
  pendingMigrations,
} from './platform/database/index.js';
import { EventBus } from './platform/events/index.js';
import { MasterKeys, RotateSecrets } from './platform/vault/index.js';
import { schemas } from './schemas.js';

export interface OperatorHost {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly printProgress: (line: string) => void;
}

/**
 * Runs one operator command on a database that this process opens.
 * @throws DataFolderInUse when a service or another command uses the folder; the errors of the command
 */
export async function runHere(
  { settings, clock, printProgress }: OperatorHost,
  line: readonly string[],
): Promise<object> {
  const { command, given } = readLine(commands, line);
  if ('folderHandler' in command) {
    const migrations = migrationsOf(schemas).map(({ name }) => name);
    return (await command.folderHandler())({ settings, migrations, printProgress }, given);
  }
  if (command.makesNoDatabase === true && settings.embedded) requireDatabaseIn(settings.dataDir);
  const open = await openDatabase(settings, schemas);
  try {
    if (command.keepsSchema !== true) await requireTables(open, settings);
    const rotateSecrets = (): RotateSecrets => new RotateSecrets(open.database, MasterKeys.load(settings));
    return await runCommand(
      commands,
      { settings, open, clock, events: new EventBus(), rotateSecrets, printProgress },
      line,
    );
  } finally {
    await open.close();
  }
}

/** Migrates an embedded database, which only this process uses. On a server the operator decides when to migrate. */
async function requireTables(open: OpenDatabase, { embedded }: Settings): Promise<void> {
  if (embedded) {
    await migrate(open);
    return;
  }
  const pending = await pendingMigrations(open);
  if (pending.length > 0)
    throw new Error(`the database lacks ${pending.length} migrations; run the command migrate first`);
}
