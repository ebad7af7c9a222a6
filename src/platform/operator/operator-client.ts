import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { codeOf } from './failure.js';
import { checkAddress, operatorAddress } from './operator-address.js';
import { operatorAnswer, type OperatorAnswer, receiveLine, sendLine } from './operator-protocol.js';

/** No socket, or one that its service left behind when it was killed. */
const NOBODY = new Set(['ENOENT', 'ECONNREFUSED']);

/**
 * Has the service on this data folder run a command.
 * @returns undefined when no service listens
 */
export async function askService(dataDir: string, line: readonly string[]): Promise<OperatorAnswer | undefined> {
  const socket = await connect(dataDir);
  if (!socket) return undefined;
  try {
    sendLine(socket, { line });
    const answer = await receiveLine(socket);
    if (answer === undefined) throw new Error('the service stopped before it answered');
    return operatorAnswer.parse(JSON.parse(answer));
  } finally {
    socket.destroy();
  }
}

async function connect(dataDir: string): Promise<Socket | undefined> {
  const address = operatorAddress(dataDir);
  checkAddress(address);
  const socket = createConnection(address.path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    if (NOBODY.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}
