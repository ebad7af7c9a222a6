import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { RateLimiter, setRateLimitHeaders } from '../../platform/limits/index.js';

/** Requests that everyone who reaches an agent through the organization may make in one window. */
const LIMIT = 600;
const WINDOW_SECONDS = 60;

/** The budget that the chat routes share. */
@Injectable()
export class ChatBudget {
  constructor(private readonly limiter: RateLimiter) {}

  /**
   * Counts one request and puts the budget's headers on its response, whatever becomes of it.
   * @param agentId null when the request names no agent of the organization; those share one budget, so
   *   that inventing ids neither escapes the limit nor fills the counters
   * @throws DomainError `rate_limited` when the budget is used up
   */
  async spend(organizationId: string, agentId: string | null, reply: FastifyReply): Promise<void> {
    const budget = await this.limiter.hit({
      bucket: `chat:${organizationId}:${agentId ?? 'none'}`,
      limit: LIMIT,
      windowSeconds: WINDOW_SECONDS,
    });
    setRateLimitHeaders(reply, budget);
    if (budget.allowed) return;
    throw new DomainError('rate_limited', `The limit of ${LIMIT} requests per ${WINDOW_SECONDS} seconds is reached.`, {
      code: 'rate_limited',
      retryAfterSeconds: budget.retryAfterSeconds,
    });
  }
}
