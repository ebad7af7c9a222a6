import type { Clock } from '../clock/index.js';
import { DataFolderInUse } from '../database/data-folder.js';
import { askService } from './operator-client.js';
import { answerOf, type OperatorAnswer, refusal } from './operator-answer.js';

/** How long a folder may be in use without a listening service: one that is starting, or another command. */
const STARTING_MS = 15_000;
const ASK_AGAIN_MS = 100;

export interface OperatorLine {
  readonly settings: { readonly embedded: boolean; readonly dataDir: string };
  readonly clock: Clock;
  /** Runs the line on a database that this process opens itself; called when no running service accepts the line. */
  readonly runHere: (line: readonly string[]) => Promise<object>;
}

/**
 * Runs one operator command: on the database server where there is one; embedded in the running
 * service, or in this process when no service runs.
 */
export function runOperatorLine(host: OperatorLine, line: readonly string[]): Promise<OperatorAnswer> {
  return host.settings.embedded ? runEmbedded(host, line) : answerOf(host.runHere(line));
}

async function runEmbedded(
  { clock, settings, runHere }: OperatorLine,
  line: readonly string[],
): Promise<OperatorAnswer> {
  const deadline = clock.monotonic() + STARTING_MS;
  for (;;) {
    const answer = await askService(settings.dataDir, line);
    if (answer) return answer;
    try {
      return { ok: true, result: await runHere(line) };
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) return refusal(error);
      if (clock.monotonic() >= deadline) throw error;
      await clock.sleep(ASK_AGAIN_MS);
    }
  }
}
