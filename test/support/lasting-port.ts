import { once } from 'node:events';
import type { Server } from 'node:net';

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
