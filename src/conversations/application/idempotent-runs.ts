import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DomainError, type ErrorKind } from '../../platform/errors/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { IdempotencyRepository } from '../persistence/idempotency.repository.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { JoinRun } from './join-run.js';
import type { ActiveRun } from './run-supervisor.js';

export interface RepeatableRequest {
  readonly organizationId: string;
  /** Null when the thread is created with the run. */
  readonly threadId: string | null;
  readonly idempotency?: IdempotentRequest;
  readonly disconnected?: () => AbortSignal;
}

/** These may be due to the first request's run: it is under way, has used up the credits, or was the last turn. */
const REFUSALS: readonly ErrorKind[] = ['conflict', 'not_found', 'invalid', 'unprocessable', 'rate_limited'];

/** One run for all requests of one `Idempotency-Key`. */
@Injectable()
export class IdempotentRuns {
  constructor(
    private readonly keys: IdempotencyRepository,
    private readonly runs: RunReader,
    private readonly joinRun: JoinRun,
    private readonly clock: Clock,
  ) {}

  /**
   * The statement that stores a run claims its key, and so decides which request is the first. For any other request
   * `start` rejects, and the request joins the first one's run.
   * @param start starts a run
   * @param lookFirst looks the key up before `start`, for requests whose preparation costs more than the look-up
   * @throws DomainError `unprocessable` when the key has named another request; what `start` throws
   */
  async execute(request: RepeatableRequest, start: () => Promise<ActiveRun>, lookFirst = false): Promise<ActiveRun> {
    const { idempotency } = request;
    if (!idempotency) return start();
    // The time before `start`: a key that was valid when `start` was refused was valid at this time too.
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

  /** @returns the run of the first request with this key; null when there is none */
  private async first(
    { organizationId, threadId, disconnected }: RepeatableRequest,
    idempotency: IdempotentRequest,
    asOf: Date,
  ): Promise<ActiveRun | null> {
    const runId = await this.keys.findResource(organizationId, idempotency, asOf);
    if (runId === null) return null;
    const onThread = threadId ?? (await this.runs.findThreadOf(organizationId, runId));
    if (onThread === null) throw threadNotFound();
    return this.joinRun.join({ organizationId, threadId: onThread, runId }, disconnected);
  }
}
