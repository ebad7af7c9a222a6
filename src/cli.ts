import 'reflect-metadata';
import { operatorCommands, schemas } from './app.module.js';
import { checkProviderSettings } from './models/index.js';
import { SystemClock } from './platform/clock/index.js';
import { loadSettings } from './platform/config/index.js';
import { messageOf } from './platform/errors/index.js';
import { EventBus } from './platform/events/index.js';
import { runOperatorLine } from './platform/operator/index.js';
import { MasterKeys, RotateSecrets } from './platform/vault/index.js';

const FAILED = 1;
const MISUSED = 2;

/** Answers one line of JSON on standard output, or one line on standard error and an exit code. */
async function main(line: readonly string[]): Promise<void> {
  const clock = new SystemClock();
  const settings = loadSettings({ role: 'all', demo: false });
  checkProviderSettings(settings);
  const answer = await runOperatorLine(
    {
      settings,
      schemas,
      clock,
      commands: (open) =>
        operatorCommands({
          ...{ open, clock, tell },
          events: new EventBus(),
          rotateSecrets: () => new RotateSecrets(open.database, MasterKeys.load(settings)),
        }),
    },
    line,
  );
  if (answer.ok) process.stdout.write(`${JSON.stringify(answer.result)}\n`);
  else fail(answer.message, answer.usage ? MISUSED : FAILED);
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
  fail(messageOf(error), FAILED);
}
