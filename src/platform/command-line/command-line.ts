import { resolve } from 'node:path';
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { codeOf, messageOf } from '../errors/index.js';
import { type CommandArguments, type OperatorCommand, type OperatorKernel, UsageError } from './operator-command.js';
import { usageOf } from './command-help.js';

/**
 * Finds the command at the start of a line and reads its arguments.
 * @throws UsageError when there is no such command, or its arguments are not as declared
 */
export function readLine(
  commands: readonly OperatorCommand[],
  line: readonly string[],
): { readonly command: OperatorCommand; readonly given: CommandArguments } {
  const command = commandIn(commands, line);
  if (!command) throw new UsageError(unknownCommand(commands, line));
  try {
    return { command, given: readArguments(command, line.slice(command.name.split(' ').length)) };
  } catch (error) {
    throw withUsage(command, error);
  }
}

/** Runs the command at the start of a line. @throws UsageError, and the errors of the command */
export async function runCommand(
  commands: readonly OperatorCommand[],
  kernel: OperatorKernel,
  line: readonly string[],
): Promise<object> {
  const { command, given } = readLine(commands, line);
  if ('folderHandler' in command) {
    throw new Error(`a service is running on this DATA_DIR; stop it before '${command.name}', or name another folder`);
  }
  const handler = await command.handler();
  try {
    return await handler(kernel, given);
  } catch (error) {
    throw withUsage(command, error);
  }
}

/** The line with absolute paths, where its command takes paths. @throws UsageError */
export function withAbsolutePaths(commands: readonly OperatorCommand[], line: readonly string[]): readonly string[] {
  const { command, given } = readLine(commands, line);
  if (command.takesPaths !== true) return line;
  return [...command.name.split(' '), ...given.positionals.map((path) => resolve(path))];
}

/** The command at the start of a line: of two words or, if there is none, of one. */
export function commandIn(commands: readonly OperatorCommand[], line: readonly string[]): OperatorCommand | undefined {
  const names = [line.slice(0, 2).join(' '), line[0]];
  return names.flatMap((name) => commands.find((command) => command.name === name) ?? [])[0];
}

/** The message for a line without a command, with the most similar command. */
export function unknownCommand(commands: readonly OperatorCommand[], line: readonly string[]): string {
  const names = commands.map(({ name }) => name);
  const [first = ''] = line;
  const begun = names.filter((name) => name.startsWith(`${first} `));
  if (begun.length > 0 && line.length === 1)
    return `unknown command '${first}'; the commands that begin so are: ${begun.join(', ')}`;
  const named = begun.length > 0 ? line.slice(0, 2).join(' ') : first;
  const meant = nearest(line.slice(0, 2).join(' '), begun.length > 0 ? begun : names);
  return `unknown command '${named}'; did you mean '${meant}'? --help lists all commands`;
}

/**
 * Reads `--option value`, `--option=value` and exactly as many positional arguments as declared.
 * @throws UsageError
 */
function readArguments(command: OperatorCommand, args: readonly string[]): CommandArguments {
  const { options = [], positionals: names = [] } = command;
  const withValue = options.filter(({ value }) => value !== undefined).map(({ name }) => name);
  refuseUnknown(
    options.map(({ name }) => name),
    args,
    withValue,
  );
  const types = options.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const);
  const config: ParseArgsOptionsConfig = Object.fromEntries(types);
  const { positionals, values } = parse(joinValues(args, withValue), config);
  const isMany = names.at(-1)?.endsWith('...') === true;
  if (isMany ? positionals.length < names.length - 1 : positionals.length !== names.length) {
    throw new UsageError(
      `expected ${names.length === 0 ? 'options only' : names.map((name) => `<${name}>`).join(' ')}`,
    );
  }
  const missing = options.find(({ name, required }) => required === true && values[name] === undefined);
  if (missing) throw new UsageError(`--${missing.name} is required`);
  const given = Object.entries(values);
  return {
    positionals,
    options: Object.fromEntries(given.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    switches: new Set(given.filter(([, value]) => value === true).map(([name]) => name)),
  };
}

function parse(args: string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    if (codeOf(error)?.startsWith('ERR_PARSE_ARGS')) throw new UsageError(firstSentence(messageOf(error)));
    throw error;
  }
}

/** @throws UsageError naming the first option that the command lacks, and its most similar option */
function refuseUnknown(known: readonly string[], args: readonly string[], withValue: readonly string[]): void {
  const isValue = (index: number): boolean => withValue.some((name) => args[index - 1] === `--${name}`);
  const unknown = args.find((arg, index) => /^--./.test(arg) && !isValue(index) && !known.includes(optionOf(arg)));
  if (unknown === undefined) return;
  const hint = known.length === 0 ? '' : `; did you mean --${nearest(optionOf(unknown), known)}?`;
  throw new UsageError(`unknown option --${optionOf(unknown)}${hint}`);
}

function optionOf(arg: string): string {
  return arg.slice(2).split('=')[0] ?? '';
}

/** Turns `--features -hipaa` into `--features=-hipaa`, because the parser would take the value for an option. */
function joinValues(args: readonly string[], options: readonly string[]): string[] {
  return args.reduce<string[]>((joined, arg) => {
    const isValue = !arg.startsWith('--') && options.some((option) => joined.at(-1) === `--${option}`);
    return isValue ? [...joined.slice(0, -1), `${joined.at(-1)}=${arg}`] : [...joined, arg];
  }, []);
}

function withUsage(command: OperatorCommand, error: unknown): unknown {
  return error instanceof UsageError ? new UsageError(`${error.message}; usage: ${usageOf(command)}`) : error;
}

function firstSentence(message: string): string {
  return (message.split(/\.\s/)[0] ?? message).replace(/\.$/, '');
}

/** The word of `known`, which must not be empty, with the smallest edit distance (Levenshtein) to `word`. */
function nearest(word: string, known: readonly string[]): string {
  const byDistance = known.map((candidate) => ({ candidate, distance: distanceOf(word, candidate) }));
  return byDistance.reduce((best, other) => (other.distance < best.distance ? other : best)).candidate;
}

function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(from).entries()) {
    const before = row;
    row = [index + 1];
    for (let at = 1; at <= to.length; at += 1) {
      const replaced = (before[at - 1] ?? 0) + (to[at - 1] === character ? 0 : 1);
      row.push(Math.min((before[at] ?? 0) + 1, (row[at - 1] ?? 0) + 1, replaced));
    }
  }
  return row[to.length] ?? 0;
}
