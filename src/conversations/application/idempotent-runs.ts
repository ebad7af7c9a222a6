import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DomainError, type ErrorKind } from '../../platform/errors/index.js';
import { idempotencyMismatch, threadNotFound } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { NewThreadRepository } from '../persistence/new-thread.repository.js';
import { JoinRun } from './join-run.js';
import type { ActiveRun } from './run-supervisor.js';

/** A request for a run, as far as its repeat is recognized by it. */
export interface RepeatableRequest {
  readonly organizationId: string;
  /** Null where the run makes its thread. */
  readonly threadId: string | null;
  readonly idempotency?: IdempotentRequest;
  readonly disconnected?: () => AbortSignal;
}

/**
 * Refusals whose cause may be the run that the same request has started when it was sent first: it is under way, has
 * used up the organization's credits, or was the last turn of its session.
 */
const REFUSALS: readonly ErrorKind[] = ['conflict', 'not_found', 'invalid', 'unprocessable', 'rate_limited'];

/** One run for all requests of one `Idempotency-Key`. */
@Injectable()
export class IdempotentRuns {
  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly newThreads: NewThreadRepository,
    private readonly joinRun: JoinRun,
    private readonly clock: Clock,
  ) {}

  /**
   * The statement that stores a run takes its key, and so decides which request is the first; `start` rejects where it
   * is not, and the request joins the first one's run instead.
   * @param start starts the run of a first request
   * @param lookFirst what `start` does before it stores the run is worth a look-up that spares it a repeat
   * @throws DomainError `unprocessable` when the key has named another request; what `start` throws
   */
  async execute(request: RepeatableRequest, start: () => Promise<ActiveRun>, lookFirst = false): Promise<ActiveRun> {
    const { idempotency } = request;
    if (!idempotency) return start();
    // Taken now: a key that has not expired when its run is refused has not expired at this moment either.
    const asOf = this.clock.now();
    const first = lookFirst ? await this.first(request, idempotency, asOf) : null;
    if (first) return first;
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof DomainError) || !REFUSALS.includes(error.kind)) throw error;
      const earlier = await this.first(request, idempotency, asOf);
      if (earlier) return earlier;
      throw error;
    }
  }

  /** @returns the run that the first request of this key has made; null when there is none */
  private async first(
    { organizationId, threadId, disconnected }: RepeatableRequest,
    idempotency: IdempotentRequest,
    asOf: Date,
  ): Promise<ActiveRun | null> {
    const known = await this.keys.findCurrent(organizationId, idempotency, asOf);
    if (!known) return null;
    if (known.fingerprint !== idempotency.fingerprint) throw idempotencyMismatch();
    const runId = known.resourceId;
    const onThread = threadId ?? (await this.newThreads.threadOf(organizationId, runId));
    if (onThread === null) throw threadNotFound();
    return this.joinRun.join({ organizationId, threadId: onThread, runId }, disconnected);
  }
}
