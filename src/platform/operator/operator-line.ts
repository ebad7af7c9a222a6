import { once } from 'node:events';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Clock } from '../clock/index.js';
import { DataFolderInUse } from '../database/data-folder.js';
import { codeOf } from '../errors/index.js';
import { checkAddress, operatorAddress } from './operator-address.js';
import { answerOf, type OperatorAnswer, refusal } from './operator-answer.js';

/** How long a folder may be in use without a listening service: by a service that starts, or by another command. */
const STARTING_MS = 15_000;
const RETRY_MS = 100;
/** No socket, or the socket of a service that was killed. */
const NO_SERVICE = new Set(['ENOENT', 'ECONNREFUSED']);

export interface OperatorLine {
  readonly settings: { readonly embedded: boolean; readonly dataDir: string };
  readonly clock: Clock;
  /** Runs the line on a database that this process opens; called when no running service accepts the line. */
  readonly runHere: (line: readonly string[]) => Promise<object>;
}

/** Runs one operator command: embedded in the running service, otherwise in this process. */
export async function runOperatorLine(
  { settings, clock, runHere }: OperatorLine,
  line: readonly string[],
): Promise<OperatorAnswer> {
  if (!settings.embedded) return answerOf(runHere(line));
  const deadline = clock.monotonic() + STARTING_MS;
  for (;;) {
    const answer = await callService(settings.dataDir, line);
    if (answer) return answer;
    try {
      return { ok: true, result: await runHere(line) };
    } catch (error) {
      if (!(error instanceof DataFolderInUse)) return refusal(error);
      if (clock.monotonic() >= deadline) throw error;
      await clock.sleep(RETRY_MS);
    }
  }
}

/**
 * Runs a command in the service on this data folder.
 * @returns undefined when no service listens
 */
export async function callService(dataDir: string, line: readonly string[]): Promise<OperatorAnswer | undefined> {
  const address = operatorAddress(dataDir);
  checkAddress(address);
  const socket = createConnection(address.path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if (NO_SERVICE.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  socket.end(JSON.stringify({ line }));
  const answer = await text(socket);
  if (answer === '') throw new Error('the service stopped before it answered');
  return JSON.parse(answer) as OperatorAnswer;
}
