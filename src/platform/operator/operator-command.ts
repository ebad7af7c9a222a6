import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import type { Clock } from '../clock/index.js';
import type { OpenDatabase } from '../database/index.js';
import type { EventBus } from '../events/index.js';
import { codeOf, messageOf } from '../errors/index.js';
import type { RotateSecrets } from '../vault/index.js';

/** What commands work with: the service's own, or the CLI's when no service runs. */
export interface OperatorKernel {
  readonly open: OpenDatabase;
  readonly clock: Clock;
  readonly events: EventBus;
  /** Made when it is asked for: the other commands do without the master keys. */
  readonly rotateSecrets: () => RotateSecrets;
  /** Tells the operator what a command that takes long is about; absent where nobody looks on. */
  readonly tell?: (line: string) => void;
}

/** One command of the operator's command line. Contexts make theirs in a factory that their index.ts exports. */
export interface OperatorCommand {
  /** One or two words: `migrate`, `org create`. */
  readonly name: string;
  /** The whole line, as shown when it is used wrongly: `org create --name N [--plan P]`. */
  readonly usage: string;
  /**
   * @param args what follows the name
   * @returns the answer, printed as one line of JSON
   * @throws UsageError when the arguments are wrong; DomainError when the service refuses
   */
  run(args: readonly string[]): Promise<object>;
}

/** The line cannot be understood; `message` says what is wrong with it. */
export class UsageError extends Error {}

/** Finds the command that a line begins with and runs it. */
export async function runCommand(commands: readonly OperatorCommand[], line: readonly string[]): Promise<object> {
  for (const words of [2, 1]) {
    const name = line.slice(0, words).join(' ');
    const command = line.length >= words ? commands.find((known) => known.name === name) : undefined;
    if (command) return explainUsage(command, () => command.run(line.slice(words)));
  }
  const names = commands.map(({ name }) => name).sort();
  throw new UsageError(`unknown command '${line.slice(0, 2).join(' ')}'; the commands are: ${names.join(', ')}`);
}

async function explainUsage(command: OperatorCommand, run: () => Promise<object>): Promise<object> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(`${error.message}; usage: ${command.usage}`);
    throw error;
  }
}

export interface CommandArguments<Option extends string> {
  readonly positionals: readonly string[];
  readonly options: Readonly<Partial<Record<Option, string>>>;
}

/**
 * Reads `--option value`, `--option=value` and exactly as many positional arguments as named.
 * @throws UsageError
 */
export function readArguments<Option extends string>(
  args: readonly string[],
  expected: { readonly options: readonly Option[]; readonly positionals?: readonly string[] },
): CommandArguments<Option> {
  const { options, positionals: names = [] } = expected;
  const config: ParseArgsOptionsConfig = Object.fromEntries(options.map((name) => [name, { type: 'string' }]));
  try {
    const parsed = parseArgs({ args: joinValues(args, options), options: config, allowPositionals: true });
    if (parsed.positionals.length !== names.length) {
      throw new UsageError(`expected ${names.length === 0 ? 'options only' : names.map((name) => `<${name}>`).join(' ')}`);
    }
    return { positionals: parsed.positionals, options: parsed.values as Partial<Record<Option, string>> };
  } catch (error) {
    if (codeOf(error)?.startsWith('ERR_PARSE_ARGS')) throw new UsageError(firstSentence(messageOf(error)));
    throw error;
  }
}

/** @throws UsageError when the option is missing */
export function requiredOption<Option extends string>(given: CommandArguments<Option>, option: Option): string {
  const value = given.options[option];
  if (value === undefined) throw new UsageError(`--${option} is required`);
  return value;
}

/** A comma-separated list without empty entries. */
export function listOption(value: string | undefined): string[] | undefined {
  return value
    ?.split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** `--features -hipaa` is written as `--features=-hipaa`, or the parser takes the value for an option. */
function joinValues(args: readonly string[], options: readonly string[]): string[] {
  return args.reduce<string[]>((joined, arg) => {
    const isValue = !arg.startsWith('--') && options.some((option) => joined.at(-1) === `--${option}`);
    return isValue ? [...joined.slice(0, -1), `${joined.at(-1)}=${arg}`] : [...joined, arg];
  }, []);
}

function firstSentence(message: string): string {
  return (message.split(/\.\s/)[0] ?? message).replace(/\.$/, '');
}
