import type { CommandOption, OperatorCommand } from './operator-command.js';

/** Either one, anywhere in a line, prints help instead of running the command. */
const HELP_OPTIONS = ['--help', '-h'];

/** The whole line of a command: `org create --name N [--plan P]`. */
export function usageOf({ name, positionals = [], options = [] }: OperatorCommand): string {
  const words = positionals.map((word) => (word.endsWith('...') ? `[<${word.slice(0, -3)}>...]` : `<${word}>`));
  return [name, ...words, ...options.map(optionUsage)].join(' ');
}

function optionUsage(option: CommandOption): string {
  return option.required === true ? withValue(option) : `[${withValue(option)}]`;
}

function withValue({ name, value }: CommandOption): string {
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** @returns the words whose help a line requests, empty for all commands; undefined when the line requests none */
export function helpTopic(line: readonly string[]): readonly string[] | undefined {
  if (line[0] === 'help') return line.slice(1).filter((word) => !HELP_OPTIONS.includes(word));
  if (!line.some((word) => HELP_OPTIONS.includes(word))) return undefined;
  return line.filter((word) => !HELP_OPTIONS.includes(word));
}

/** @param start the shell command that starts the command line, for the usage */
export function helpOnAll(commands: readonly OperatorCommand[], start: string): string {
  return [
    `usage: ${start} <command> [arguments]`,
    '',
    'Commands of the operator. They print one line of JSON, and work while the service runs.',
    '',
    ...columns(
      [...commands].sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ name, about }) => [name, about]),
    ),
    '',
    `${start} <command> --help describes the arguments of a command.`,
    '',
  ].join('\n');
}

export function helpOn(command: OperatorCommand, start: string): string {
  const { about, options = [] } = command;
  const listed = options.map(
    (option) => [withValue(option), `${option.about}${option.required === true ? ' (required)' : ''}`] as const,
  );
  return [
    `usage: ${start} ${usageOf(command)}`,
    '',
    about,
    ...(listed.length === 0 ? [] : ['', ...columns(listed)]),
    '',
  ].join('\n');
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
