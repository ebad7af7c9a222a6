import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { RateLimiter, setRateLimitHeaders } from '../../platform/limits/index.js';

const LIMIT = 30;
const WINDOW_SECONDS = 60;

/** The budget that the trace list and the trace of a message share; each API server counts its own. */
@Injectable()
export class TraceBudget {
  constructor(private readonly limiter: RateLimiter) {}

  /**
   * Counts one request and puts the budget's headers on its response, whatever becomes of it.
   * @throws DomainError when the budget is used up; without a code, unlike every other such answer
   */
  async spend(organizationId: string, reply: FastifyReply): Promise<void> {
    const budget = await this.limiter.hit({
      bucket: `traces:${organizationId}`,
      limit: LIMIT,
      windowSeconds: WINDOW_SECONDS,
      perProcess: true,
    });
    setRateLimitHeaders(reply, budget);
    if (budget.allowed) return;
    throw new DomainError('rate_limited', `The limit of ${LIMIT} requests per ${WINDOW_SECONDS} seconds is reached.`, {
      retryAfterSeconds: budget.retryAfterSeconds,
    });
  }
}
