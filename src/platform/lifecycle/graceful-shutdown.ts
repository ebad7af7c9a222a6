import type { Server } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import { endsWithin } from './ends-within.js';
import { ShutdownState, type ShutdownParticipant } from './shutdown-state.js';

/** Time in which aborted work stores its results and clients read their streams to the end. */
const ABORT_MS = 5_000;
/** Time in which modules close; an unreachable database must not keep the process alive. */
const CLOSE_MS = 5_000;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export interface GracefulShutdownOptions {
  /** How long active work may continue before it is aborted. */
  readonly shutdownMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly server?: Server;
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  readonly exit?: (code: number) => void;
}

/**
 * On SIGTERM and SIGINT the process accepts no more connections, waits for active work, aborts the rest, closes the application
 * and exits with 0. A second signal exits immediately.
 */
export function stopOnSignals(app: INestApplicationContext, options: GracefulShutdownOptions): void {
  const { signals = process, exit = (code) => process.exit(code), logger } = options;
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) {
      logger.warn({ signal }, 'Exiting immediately');
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

/** The steps of a graceful stop, each with a time limit. Resolves when the application is closed. */
export async function shutDown(app: INestApplicationContext, options: GracefulShutdownOptions): Promise<void> {
  const { shutdownMs, clock, logger, server } = options;
  const shutdown = app.get(ShutdownState);
  shutdown.begin();
  // Refuses new connections and closes idle ones; open streams continue.
  server?.close();
  const { participants } = shutdown;
  if (!(await endsWithin(shutdownMs, clock, allIdle(participants)))) {
    logger.warn({ waitedMs: shutdownMs }, 'Aborting the work that is still active');
    const ended = abortAll(participants, logger).then(() => allIdle(participants));
    if (!(await endsWithin(ABORT_MS, clock, ended))) logger.warn({}, 'Closing connections of work that did not end');
  }
  // The framework's close would wait for every connection that a client keeps open.
  server?.closeAllConnections();
  if (!(await endsWithin(CLOSE_MS, clock, app.close()))) logger.warn({}, 'Exiting before everything was closed');
}

async function allIdle(participants: readonly ShutdownParticipant[]): Promise<void> {
  await Promise.all(participants.map((participant) => participant.idle()));
}

async function abortAll(participants: readonly ShutdownParticipant[], logger: Logger): Promise<void> {
  await Promise.all(
    participants.map((participant) =>
      participant.abort().catch((error: unknown) => {
        logger.error({ participant: participant.name, err: error }, 'Work could not be aborted');
      }),
    ),
  );
}
