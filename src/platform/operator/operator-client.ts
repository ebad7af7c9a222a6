import { once } from 'node:events';
import { createConnection } from 'node:net';
import { text } from 'node:stream/consumers';
import { codeOf } from '../errors/index.js';
import { checkAddress, operatorAddress } from './operator-address.js';
import type { OperatorAnswer } from './operator-answer.js';

/** No socket, or one that its service left behind when it was killed. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED']);

/**
 * Has the service on this data folder run a command.
 * @returns undefined when no service listens
 */
export async function askService(dataDir: string, line: readonly string[]): Promise<OperatorAnswer | undefined> {
  const address = operatorAddress(dataDir);
  checkAddress(address);
  const socket = createConnection(address.path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if (NOBODY.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
  socket.end(JSON.stringify({ line }));
  const answer = await text(socket);
  if (answer === '') throw new Error('the service stopped before it answered');
  return JSON.parse(answer) as OperatorAnswer;
}
