import { Injectable } from '@nestjs/common';
import { Clock, Semaphore, untilAborted } from '../../platform/clock/index.js';
import { Database, DatabaseUnavailable } from '../../platform/database/index.js';
import { secureRandomBytes } from '../../platform/ids/index.js';
import { ShutdownState } from '../../platform/lifecycle/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import {
  HELD_CHARACTERS,
  OUTAGE_MS,
  OUTAGE_NOTICE_MS,
  OUTAGE_STOP_MS,
  PROBE_JITTER_MS,
  PROBE_MS,
  RETRIES_AT_ONCE,
  TURN_MS,
} from './limits.js';
import type { RunState } from './run-state.js';

/** What waits for the database. */
export interface Waiting {
  /** Characters that must be kept until the database is back; asked once, when the wait begins. */
  readonly characters?: () => number;
  /** Ends the wait with its reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the wait begins, and every few seconds while it lasts. */
  readonly notify?: () => void;
}

/**
 * Lets runs outlast an outage of the database. One query at a time looks whether it is back, and then few runs at a time
 * try again, so that a thousand of them neither keep it down nor take the connections of new requests.
 */
@Injectable()
export class DatabaseOutage {
  private readonly slots = new Semaphore(RETRIES_AT_ONCE);
  private readonly stopped = new AbortController();
  private looking: Promise<boolean> | undefined;
  private characters = 0;
  private waiting = 0;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly logger: Logger,
    shutdown: ShutdownState,
    metrics: Metrics,
  ) {
    const help =
      'Runs that wait for an unreachable database, with their end or before they go on, and callers that wait for them.';
    metrics.gauge({ name: 'agent_service_runs_waiting_for_database', help, labels: {} }, () => this.waiting);
    shutdown.register({
      name: 'runs that wait for the database',
      idle: () => Promise.resolve(),
      abort: () => {
        this.clock.after(OUTAGE_STOP_MS, () => this.stopped.abort());
        return Promise.resolve();
      },
    });
  }

  /** The process stops and no longer waits for the database. */
  get isStopped(): boolean {
    return this.stopped.signal.aborted;
  }

  /**
   * The result of `work`, which is repeated while the database is unreachable and so must not harm when an earlier
   * attempt has succeeded without an answer.
   * @throws DatabaseUnavailable after `OUTAGE_MS`, when too much waits, or when the process stops; the signal's reason
   */
  async outlast<Result>(waiting: Waiting, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
      return this.wait(waiting, work, error);
    }
  }

  /** As `outlast`, for work in the middle of a run. It keeps nothing in memory that the run does not need anyway. */
  during<Result>({ context: { signal }, showOutage: notify }: RunState, work: () => Promise<Result>): Promise<Result> {
    return this.outlast({ signal, notify }, work);
  }

  private async wait<Result>(
    waiting: Waiting,
    work: () => Promise<Result>,
    failure: DatabaseUnavailable,
  ): Promise<Result> {
    const characters = waiting.characters?.() ?? 0;
    if (this.isStopped || this.characters + characters > HELD_CHARACTERS) throw failure;
    if (this.waiting === 0) this.logger.warn({ err: failure }, 'Runs wait for the database');
    this.waiting += 1;
    this.characters += characters;
    try {
      return await this.repeat(waiting, work, failure);
    } finally {
      this.characters -= characters;
      this.waiting -= 1;
      if (this.waiting === 0) this.logger.info({}, 'No run waits for the database any more');
    }
  }

  private async repeat<Result>(
    { signal, notify }: Waiting,
    work: () => Promise<Result>,
    failure: DatabaseUnavailable,
  ): Promise<Result> {
    const isOver = AbortSignal.any([this.stopped.signal, ...(signal ? [signal] : [])]);
    const began = this.clock.monotonic();
    let notices = 0;
    let last = failure;
    for (let waited = 0; waited < OUTAGE_MS; waited = this.clock.monotonic() - began) {
      if (waited >= notices * OUTAGE_NOTICE_MS) {
        notify?.();
        notices += 1;
      }
      try {
        if (await untilAborted(this.isBack(), isOver)) return await untilAborted(this.inTurn(work, isOver), isOver);
      } catch (error) {
        signal?.throwIfAborted();
        if (this.isStopped) break;
        if (!(error instanceof DatabaseUnavailable)) throw error;
        last = error;
      }
    }
    throw last;
  }

  /**
   * Passes the turn on after `TURN_MS` although the work goes on: sources and hooks wait for customers' servers, and the ends
   * of other organizations' runs wait for their turn. Never settles once it is over, which the caller hears by itself.
   */
  private inTurn<Result>(work: () => Promise<Result>, isOver: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      void this.slots.run(async () => {
        if (isOver.aborted) return;
        const result = (async () => work())();
        result.then(resolve, reject);
        await new Promise<void>((done) => {
          const stop = this.clock.after(TURN_MS, done);
          void result
            .catch(() => undefined)
            .then(() => {
              stop();
              done();
            });
        });
      });
    });
  }

  /** Looks after a pause, once for all that wait. */
  private isBack(): Promise<boolean> {
    this.looking ??= this.look().finally(() => {
      this.looking = undefined;
    });
    return this.looking;
  }

  private async look(): Promise<boolean> {
    await this.clock.sleep(PROBE_MS + (secureRandomBytes(1).readUInt8() / 255) * PROBE_JITTER_MS);
    try {
      await this.database.ping();
      return true;
    } catch {
      return false;
    }
  }
}
