import { runHere } from '../../src/operator-host.js';
import { SystemClock } from '../../src/platform/clock/index.js';
import type { Settings } from '../../src/platform/config/index.js';
import { runOperatorLine } from '../../src/platform/operator/index.js';

/** Runs one operator command in this process, as the command line does for a service with these settings. */
export async function operateOn(settings: Settings, line: readonly string[]): Promise<object> {
  const clock = new SystemClock();
  const host = { settings, clock, printProgress: () => undefined };
  const answer = await runOperatorLine({ settings, clock, runHere: (given) => runHere(host, given) }, line);
  if (!answer.ok) throw new Error(answer.message);
  return answer.result;
}
