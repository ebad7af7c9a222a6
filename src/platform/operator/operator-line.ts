import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import {
  type ContextSchema,
  DataFolderInUse,
  migrate,
  openDatabase,
  type OpenDatabase,
  pendingMigrations,
} from '../database/index.js';
import { askService } from './operator-client.js';
import { type OperatorCommand, runCommand } from './operator-command.js';
import { answerOf, type OperatorAnswer } from './operator-protocol.js';

/** How long a folder may be taken with nobody listening: a service that is starting, or another command. */
const STARTING_MS = 15_000;
const ASK_AGAIN_MS = 100;

export interface OperatorLine {
  readonly settings: Settings;
  readonly schemas: readonly ContextSchema[];
  readonly clock: Clock;
  /** The commands over a database that this process has opened itself. */
  readonly commands: (open: OpenDatabase) => readonly OperatorCommand[];
}

/**
 * Runs one operator command: on the database server where there is one; embedded in the running
 * service, or in this process when no service runs.
 */
export function runOperatorLine(host: OperatorLine, line: readonly string[]): Promise<OperatorAnswer> {
  return host.settings.embedded ? runEmbedded(host, line) : answerOf(runOnServer(host, line));
}

async function runOnServer(host: OperatorLine, line: readonly string[]): Promise<object> {
  const open = await openDatabase(host.settings, host.schemas);
  try {
    const pending = line[0] === 'migrate' ? [] : await pendingMigrations(open);
    if (pending.length > 0) throw new Error(`the database lacks ${pending.length} migrations; run the command migrate first`);
    return await runCommand(host.commands(open), line);
  } finally {
    await open.close();
  }
}

async function runEmbedded(host: OperatorLine, line: readonly string[]): Promise<OperatorAnswer> {
  const { clock, settings } = host;
  const deadline = clock.monotonic() + STARTING_MS;
  for (;;) {
    const answer = await askService(settings.dataDir, line);
    if (answer) return answer;
    try {
      const open = await openDatabase(settings, host.schemas);
      return await answerOf(runHere(host, open, line));
    } catch (error) {
      if (!(error instanceof DataFolderInUse) || clock.monotonic() >= deadline) throw error;
      await clock.sleep(ASK_AGAIN_MS);
    }
  }
}

async function runHere(host: OperatorLine, open: OpenDatabase, line: readonly string[]): Promise<object> {
  try {
    // Nobody else can be using the folder's database, so there is nothing to wait for the operator's word.
    if (line[0] !== 'migrate') await migrate(open);
    return await runCommand(host.commands(open), line);
  } finally {
    await open.close();
  }
}
