import { keepCompiledCode } from './platform/compile-cache/index.js';
import { InvalidSetting, loadSettings, type ProcessRole, StartFailure } from './platform/config/index.js';
import { withoutValues } from './platform/errors/index.js';
import { keepYoungGenerationSmall } from './platform/heap/index.js';
import { mapStacks } from './platform/stack-traces/index.js';

interface Mode {
  readonly role: ProcessRole;
  readonly demo: boolean;
}

function readMode(word: string): Mode {
  switch (word) {
    case 'all':
    case 'api':
    case 'worker':
      return { role: word, demo: false };
    case 'demo':
      return { role: 'all', demo: true };
    default:
      throw new InvalidSetting(`'${word}' is not a role: use all, api, worker or demo`);
  }
}

function describe(thrown: unknown): string {
  const error = withoutValues(thrown);
  if (!(error instanceof Error)) return String(error);
  return error instanceof StartFailure ? error.message : (error.stack ?? error.message);
}

mapStacks();
try {
  const settings = loadSettings(readMode(process.argv[2] ?? 'all'));
  // Loading the whole service takes a second, so wrong settings are reported before it.
  keepCompiledCode();
  const letYoungGenerationGrow = keepYoungGenerationSmall();
  const { start } = await import('./start.js');
  await start(settings);
  letYoungGenerationGrow();
} catch (error) {
  process.stderr.write(`${describe(error)}\n`);
  process.exit(1);
}
