import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below those that systems give out by themselves, to servers and to the near ends of connections alike. */
const FIRST = 20_000;
const COUNT = 10_000;

/** Has the server listen on a port that is still free after it was closed, so that it can be started there again. */
export async function listenToLastingPort(server: Server): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    try {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    }
  }
}

/** Those that were given out and may not be in use yet. */
const given = new Set<number>();

/** A port for a program that is started later, and may be stopped and started again there. */
export async function freePort(): Promise<number> {
  for (;;) {
    const server = createServer();
    const port = await listenToLastingPort(server);
    server.close();
    await once(server, 'close');
    if (given.has(port)) continue;
    given.add(port);
    return port;
  }
}
