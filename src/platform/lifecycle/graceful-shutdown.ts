import type { Server } from 'node:http';
import type { INestApplicationContext } from '@nestjs/common';
import type { Clock } from '../clock/index.js';
import type { Logger } from '../telemetry/index.js';
import { endsWithin } from './ends-within.js';
import { ShutdownState, type ShutdownParticipant } from './shutdown-state.js';

/*
 * Together with the default of `SHUTDOWN_SECONDS` 30 s, after which Kubernetes kills a process.
 */
/** Time in which aborted work stores its results and clients read their streams to the end. */
const ABORT_MS = 2_500;
/** Time in which modules close; an unreachable database must not keep the process alive. */
const CLOSE_MS = 2_500;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

export interface GracefulShutdownOptions {
  /** How long active work may continue before it is aborted. */
  readonly shutdownMs: number;
  /** The part of it in which requests are still accepted, since balancers learn only by and by that the process stops. */
  readonly delayMs?: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly server?: Server;
  readonly signals?: Pick<NodeJS.EventEmitter, 'on'>;
  readonly exit?: (code: number) => void;
}

/**
 * On SIGTERM and SIGINT the process says that it is not ready, after the delay accepts no more connections, waits for active work,
 * aborts the rest, closes the application and exits with 0. A second signal exits immediately. A failure that the application
 * tells of stops it in the same way, and it exits with 1.
 */
export function stopOnSignals(app: INestApplicationContext, options: GracefulShutdownOptions): void {
  const { signals = process, exit = (code) => process.exit(code), logger } = options;
  let isStopping = false;
  let isSignalled = false;
  const stop = (code: number): void => {
    if (isStopping) return;
    isStopping = true;
    void shutDown(app, options).then(
      () => exit(code),
      (error: unknown) => {
        logger.error({ err: error }, 'The process did not stop cleanly');
        exit(1);
      },
    );
  };
  const receive = (signal: string): void => {
    if (isSignalled) {
      logger.warn({ signal }, 'Exiting immediately');
      exit(1);
      return;
    }
    isSignalled = true;
    logger.info({ signal }, 'Stopping');
    stop(0);
  };
  for (const signal of SIGNALS) signals.on(signal, () => receive(signal));
  void app.get(ShutdownState).failure.then((reason) => {
    if (isStopping) return;
    logger.error({ reason }, 'Stopping, because the process can never go on');
    stop(1);
  });
}

/** The steps of a graceful stop, each with a time limit. Resolves when the application is closed. */
export async function shutDown(app: INestApplicationContext, options: GracefulShutdownOptions): Promise<void> {
  const { shutdownMs, delayMs = 0, clock, logger, server } = options;
  const shutdown = app.get(ShutdownState);
  if (delayMs > 0) {
    shutdown.leave();
    await clock.sleep(delayMs);
  }
  shutdown.begin();
  // Refuses new connections and closes idle ones; open streams continue.
  server?.close();
  const { participants } = shutdown;
  if (!(await endsWithin(shutdownMs - delayMs, clock, allIdle(participants)))) {
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
