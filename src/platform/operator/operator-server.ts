import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { Logger } from '@nestjs/common';
import { z } from 'zod';
import { checkAddress, operatorAddress, prepareAddress } from './operator-address.js';
import { answerOf } from './operator-answer.js';
import { UsageError } from '../command-line/index.js';

/** A connection has one request and one response, each a JSON document that ends when its sender ends the connection. */
const operatorRequest = z.object({ line: z.array(z.string()) });

/**
 * Runs operator commands inside an embedded service, because no other process may use its data folder. They arrive on a local socket
 * that only the user of the service can open. Start it while holding the folder.
 */
export class OperatorServer {
  private readonly logger = new Logger(OperatorServer.name);
  private readonly connections = new Set<Promise<void>>();
  /** Connections that have not sent a whole request. */
  private readonly pending = new Set<Socket>();
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
    // `listen` creates the socket before it returns. Without the mask, other users could open it until `chmod`.
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

  /** Accepts no more commands, and waits for the running ones, which need the database. */
  async close(): Promise<void> {
    const { server } = this;
    if (!server) return;
    this.server = undefined;
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.pending) socket.destroy();
    await Promise.all(this.connections);
    await closed;
  }

  private accept(socket: Socket): void {
    this.pending.add(socket);
    const connection = this.serve(socket).finally(() => {
      this.pending.delete(socket);
      this.connections.delete(connection);
    });
    this.connections.add(connection);
  }

  /** Never rejects. Does not log the response, which may contain a new key. */
  private async serve(socket: Socket): Promise<void> {
    socket.on('error', (error) => this.logger.debug("The operator's connection broke", error));
    try {
      const request = await text(socket);
      this.pending.delete(socket);
      socket.end(JSON.stringify(await answerOf(this.run(request))));
    } catch (error) {
      this.logger.debug("An operator's request could not be read", error);
      socket.destroy();
    }
  }

  private async run(request: string): Promise<object> {
    const { data } = operatorRequest.safeParse(parseJson(request));
    if (!data) throw new UsageError('a request is JSON: {"line": [words]}');
    return this.runLine(data.line);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
