import type { Server } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import { endsWithin } from './ends-within.js';
import { ShutdownState, type ShutdownParticipant } from './shutdown-state.js';

/** Time for aborted work to store what it has and for its streams to be read to their end. */
const ABORT_MS = 5_000;
/** Time for modules to close; a dead database must not keep a stopped process alive. */
const CLOSE_MS = 5_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export interface GracefulShutdownOptions {
  /** How long work under way may go on by itself. */
  readonly shutdownMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The listening server, where the process has one. */
  readonly server?: Server;
  /** Where signals come from; the process itself unless a test says otherwise. */
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  readonly exit?: (code: number) => void;
}

/**
 * Stops the process on SIGTERM and SIGINT without losing what is under way: takes no more connections,
 * lets work end by itself, then ends it, closes the application and exits with 0. A second signal exits at once.
 */
export function stopOnSignals(app: INestApplicationContext, options: GracefulShutdownOptions): void {
  const { signals = process, exit = (code) => process.exit(code), logger } = options;
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) {
      logger.warn({ signal }, 'Stopping at once');
      exit(1);
      return;
    }
    stopping = true;
    logger.info({ signal }, 'Stopping');
    void shutDown(app, options).then(
      () => exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'The process did not stop cleanly');
        exit(1);
      },
    );
  };
  for (const signal of SIGNALS) signals.on(signal, () => stop(signal));
}

/** The steps of a graceful stop, each bounded in time; resolves when the application is closed. */
export async function shutDown(app: INestApplicationContext, options: GracefulShutdownOptions): Promise<void> {
  const { shutdownMs, clock, logger, server } = options;
  const shutdown = app.get(ShutdownState);
  shutdown.begin();
  // Refuses new connections and closes idle ones; open streams go on.
  server?.close();
  const { participants } = shutdown;
  if (!(await endsWithin(shutdownMs, clock, allIdle(participants)))) {
    logger.warn({ waitedMs: shutdownMs }, 'Ending the work that is still under way');
    const ended = abortAll(participants, logger).then(() => allIdle(participants));
    if (!(await endsWithin(ABORT_MS, clock, ended))) logger.warn({}, 'Breaking off what did not end');
  }
  // The framework's close waits for every open connection, however long its client keeps it.
  server?.closeAllConnections();
  if (!(await endsWithin(CLOSE_MS, clock, app.close()))) logger.warn({}, 'Exiting without having closed everything');
}

async function allIdle(participants: readonly ShutdownParticipant[]): Promise<void> {
  await Promise.all(participants.map((participant) => participant.idle()));
}

async function abortAll(participants: readonly ShutdownParticipant[], logger: Logger): Promise<void> {
  await Promise.all(
    participants.map((participant) =>
      participant.abort().catch((error: unknown) => {
        logger.error({ participant: participant.name, err: error }, 'Work could not be ended');
      }),
    ),
  );
}
