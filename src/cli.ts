import 'reflect-metadata';
import { operatorCommands, schemas } from './app.module.js';
import { SystemClock } from './platform/clock/index.js';
import { loadSettings } from './platform/config/index.js';
import { EventBus } from './platform/events/index.js';
import { messageOf, runOperatorLine } from './platform/operator/index.js';

const FAILED = 1;
const MISUSED = 2;

/** Answers one line of JSON on standard output, or one line on standard error and an exit code. */
async function main(line: readonly string[]): Promise<void> {
  const clock = new SystemClock();
  const answer = await runOperatorLine(
    {
      settings: loadSettings({ role: 'all', demo: false }),
      schemas,
      clock,
      commands: (open) => operatorCommands({ open, clock, events: new EventBus() }),
    },
    line,
  );
  if (answer.ok) process.stdout.write(`${JSON.stringify(answer.result)}\n`);
  else fail(answer.message, answer.usage ? MISUSED : FAILED);
}

function fail(message: string, exitCode: number): void {
  process.stderr.write(`${message}\n`);
  process.exitCode = exitCode;
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  fail(messageOf(error), FAILED);
}
