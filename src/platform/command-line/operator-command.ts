import type { Clock } from '../clock/index.js';
import type { Settings } from '../config/index.js';
import type { OpenDatabase } from '../database/index.js';
import type { EventBus } from '../events/index.js';
import type { RotateSecrets } from '../vault/index.js';
import { ValidationFailed } from '../errors/index.js';
import { isUuid } from '../ids/index.js';

/** The objects that commands use: those of the service or, when no service runs, of the command line. */
export interface OperatorKernel {
  readonly settings: Settings;
  readonly open: OpenDatabase;
  readonly clock: Clock;
  readonly events: EventBus;
  /** A function, because other commands do not need the master keys. */
  readonly rotateSecrets: () => RotateSecrets;
  /** Prints a line about the progress of a long command; absent in a service, which has no terminal. */
  readonly printProgress?: (line: string) => void;
}

/** What a command on a data folder without a service uses. */
export interface FolderHost {
  readonly settings: Settings;
  /** The migrations of this build, in order. */
  readonly migrations: readonly string[];
  readonly printProgress: (line: string) => void;
}

/**
 * The declaration of one operator command. The command line loads all declarations for `--help`, and a handler only when its
 * command runs, so a file of declarations imports only types.
 */
export type OperatorCommand = DatabaseCommand | FolderCommand;

interface Declaration {
  /** One or two words: `migrate`, `org create`. */
  readonly name: string;
  /** One sentence, for the list of commands. */
  readonly about: string;
  /** Names of the arguments without an option, in order. Any number may follow a last one that ends with `...`. */
  readonly positionals?: readonly string[];
  readonly options?: readonly CommandOption[];
  /** The arguments are paths. The command line makes them absolute, because a service may run in another folder. */
  readonly takesPaths?: boolean;
}

export interface DatabaseCommand extends Declaration {
  /** The database is not migrated before the command runs. */
  readonly keepsSchema?: boolean;
  /** Without an embedded database the command is refused; others make one. */
  readonly makesNoDatabase?: boolean;
  readonly handler: () => Promise<CommandHandler>;
}

/** A command that runs in no service and opens no database. */
export interface FolderCommand extends Declaration {
  readonly folderHandler: () => Promise<FolderHandler>;
}

export interface CommandOption {
  readonly name: string;
  /** The placeholder of the value in the usage, for instance `a,b`; absent for an option without a value. */
  readonly value?: string;
  readonly required?: boolean;
  readonly about: string;
}

/**
 * @returns the answer, printed as one line of JSON
 * @throws UsageError when the arguments are wrong; DomainError when the service refuses
 */
export type CommandHandler = (kernel: OperatorKernel, given: CommandArguments) => Promise<object>;

export type FolderHandler = (host: FolderHost, given: CommandArguments) => Promise<object>;

export interface CommandArguments {
  readonly positionals: readonly string[];
  readonly options: Readonly<Partial<Record<string, string>>>;
  /** The given options that take no value. */
  readonly switches: ReadonlySet<string>;
}

/** A malformed line; `message` says what is wrong with it. */
export class UsageError extends Error {}

/** @throws UsageError when the option is missing */
export function requiredOption({ options }: CommandArguments, option: string): string {
  const value = options[option];
  if (value === undefined) throw new UsageError(`--${option} is required`);
  return value;
}

/**
 * An id of a line, in lower case.
 * @param name the name of the argument in the message
 * @throws ValidationFailed
 */
export function idArgument(name: string, text = ''): string {
  const id = text.toLowerCase();
  if (isUuid(id)) return id;
  throw new ValidationFailed(`${name}: '${text}' is not an id (a UUID)`);
}

/** A comma-separated list without empty entries. */
export function listOption(value: string | undefined): string[] | undefined {
  return value
    ?.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}
