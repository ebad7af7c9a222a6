import { commands } from './commands.js';
import {
  commandIn,
  helpOn,
  helpOnAll,
  helpTopic,
  unknownCommand,
  UsageError,
  withAbsolutePaths,
} from './platform/command-line/index.js';
import { messageOf } from './platform/errors/index.js';
import type { OperatorAnswer } from './platform/operator/index.js';

/** The command that the guide uses. */
const START = 'npm run -s cli --';
const FAILED = 1;
const MISUSED = 2;

/** Prints one line of JSON on standard output, or one line on standard error with an exit code. */
async function main(line: readonly string[]): Promise<void> {
  const topic = helpTopic(line);
  if (topic) {
    process.stdout.write(help(topic));
  } else if (line.length === 0) {
    fail(helpOnAll(commands, START).trimEnd(), MISUSED);
  } else {
    // Before anything is opened, so that a malformed line changes nothing.
    const answer = await run(withAbsolutePaths(commands, line));
    if (answer.ok) process.stdout.write(`${JSON.stringify(answer.result)}\n`);
    else fail(answer.message, answer.usage ? MISUSED : FAILED);
  }
}

/** The help on all commands, on those that begin with a word, or on one. @throws UsageError when no command matches */
function help(topic: readonly string[]): string {
  if (topic.length === 0) return helpOnAll(commands, START);
  const command = commandIn(commands, topic);
  if (command) return helpOn(command, START);
  const group = topic.length === 1 ? commands.filter(({ name }) => name.startsWith(`${topic[0]} `)) : [];
  if (group.length === 0) throw new UsageError(unknownCommand(commands, topic));
  return group.map((one) => helpOn(one, START)).join('\n');
}

/** Imports modules dynamically, because most of them are not needed when a running service executes the line. */
async function run(line: readonly string[]): Promise<OperatorAnswer> {
  const { loadSettings } = await import('./platform/config/index.js');
  const { SystemClock } = await import('./platform/clock/index.js');
  const { runOperatorLine } = await import('./platform/operator/index.js');
  const settings = loadSettings({ role: 'all', demo: false });
  const clock = new SystemClock();
  const runHere = async (given: readonly string[]): Promise<object> => {
    const { compileForOneCommand, keepCompiledCode } = await import('./platform/compile-cache/index.js');
    compileForOneCommand();
    keepCompiledCode();
    const host = await import('./operator-host.js');
    return host.runHere({ settings, clock, printProgress: printError }, given);
  };
  return runOperatorLine({ settings, clock, runHere }, line);
}

/** Standard output has only the result. */
function printError(line: string): void {
  process.stderr.write(`${line}\n`);
}

function fail(message: string, exitCode: number): void {
  printError(message);
  process.exitCode = exitCode;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  fail(messageOf(error), error instanceof UsageError ? MISUSED : FAILED);
}
