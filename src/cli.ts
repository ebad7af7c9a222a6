import { commands } from './commands.js';
import { commandIn, helpOn, helpOnAll, helpTopic, readLine, unknownCommand, UsageError } from './platform/command-line/index.js';
import { messageOf } from './platform/errors/index.js';
import type { OperatorAnswer } from './platform/operator/index.js';

/** How the README calls it. */
const START = 'npm run -s cli --';
const FAILED = 1;
const MISUSED = 2;

/** Answers one line of JSON on standard output, or one line on standard error and an exit code. */
async function main(line: readonly string[]): Promise<void> {
  const topic = helpTopic(line);
  if (topic) {
    process.stdout.write(help(topic));
  } else if (line.length === 0) {
    fail(helpOnAll(commands, START).trimEnd(), MISUSED);
  } else {
    // Before anything is opened: a line that is written wrongly changes nothing.
    readLine(commands, line);
    const answer = await run(line);
    if (answer.ok) process.stdout.write(`${JSON.stringify(answer.result)}\n`);
    else fail(answer.message, answer.usage ? MISUSED : FAILED);
  }
}

/** What a line asks help about: all commands, those that begin with a word, or one. @throws UsageError for any other */
function help(topic: readonly string[]): string {
  if (topic.length === 0) return helpOnAll(commands, START);
  const command = commandIn(commands, topic);
  if (command) return helpOn(command, START);
  const group = topic.length === 1 ? commands.filter(({ name }) => name.startsWith(`${topic[0]} `)) : [];
  if (group.length === 0) throw new UsageError(unknownCommand(commands, topic));
  return group.map((one) => helpOn(one, START)).join('\n');
}

/** Here everything is loaded when it is needed: a service that runs needs the line alone. */
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
    const { runHere } = await import('./operator-host.js');
    return runHere({ settings, clock, tell }, given);
  };
  return runOperatorLine({ settings, clock, runHere }, line);
}

/** Standard output is the answer's alone. */
function tell(line: string): void {
  process.stderr.write(`${line}\n`);
}

function fail(message: string, exitCode: number): void {
  tell(message);
  process.exitCode = exitCode;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  fail(messageOf(error), error instanceof UsageError ? MISUSED : FAILED);
}
