import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { checkAddress, operatorAddress, prepareAddress } from './operator-address.js';
import { answerOf } from './operator-answer.js';
import { UsageError } from '../command-line/index.js';

/** A connection carries one request and its answer, each as JSON that ends with its direction. */
const operatorRequest = z.object({ line: z.array(z.string()) });

/**
 * Runs operator commands inside an embedded service, which alone may use its data folder, for a command
 * line that comes by a local socket only the service's user can open. Start it while holding the folder.
 */
export class OperatorServer {
  private readonly logger = new Logger(OperatorServer.name);
  private readonly connections = new Set<Promise<void>>();
  /** Connected, and no command understood yet. */
  private readonly silent = new Set<Socket>();
  private server: Server | undefined;

  constructor(
    private readonly dataDir: string,
    private readonly runLine: (line: readonly string[]) => Promise<object>,
  ) {}

  async start(): Promise<void> {
    const address = operatorAddress(this.dataDir);
    prepareAddress(address);
    checkAddress(address);
    // The service that holds the data folder is the only one on it, so an existing socket is of a dead service.
    rmSync(address.path, { force: true });
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.accept(socket);
    });
    // The socket is made before `listen` returns; made open and closed afterwards, it would be open for a moment.
    const umask = process.umask(0o177);
    try {
      server.listen(address.path);
    } finally {
      process.umask(umask);
    }
    await once(server, 'listening');
    chmodSync(address.path, 0o600);
    this.server = server;
  }

  /** Takes no more commands and waits for those under way: they need the database. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.silent) socket.destroy();
    await Promise.all(this.connections);
    await closed;
  }

  private accept(socket: Socket): void {
    this.silent.add(socket);
    const connection = this.serve(socket).finally(() => {
      this.silent.delete(socket);
      this.connections.delete(connection);
    });
    this.connections.add(connection);
  }

  /** Never rejects. What is answered is not logged: it may hold a new key. */
  private async serve(socket: Socket): Promise<void> {
    socket.on('error', (error) => this.logger.debug("The operator's connection broke", error));
    try {
      const request = await text(socket);
      this.silent.delete(socket);
      socket.end(JSON.stringify(await answerOf(this.run(request))));
    } catch (error) {
      this.logger.debug("An operator's request could not be read", error);
      socket.destroy();
    }
  }

  private async run(given: string): Promise<object> {
    return this.runLine(requestIn(given).line);
  }
}

function requestIn(given: string): z.output<typeof operatorRequest> {
  try {
    return operatorRequest.parse(JSON.parse(given));
  } catch {
    throw new UsageError('a request is JSON: {"line": [words]}');
  }
}
