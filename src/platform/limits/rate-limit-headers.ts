import type { FastifyReply } from 'fastify';
import type { RateLimitState } from './rate-limiter.js';

/**
 * `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds), and `Retry-After` where the request is refused. Of
 * several limits on one request the client is told the tightest.
 */
export function setRateLimitHeaders(
  reply: FastifyReply,
  ...states: readonly [RateLimitState, ...RateLimitState[]]
): void {
  const tightest = states.reduce((tight, state) => (isTighter(state, tight) ? state : tight));
  void reply.headers({
    'RateLimit-Limit': String(tightest.limit),
    'RateLimit-Remaining': String(tightest.remaining),
    'RateLimit-Reset': String(tightest.resetSeconds),
  });
  if (!tightest.allowed) void reply.header('Retry-After', String(tightest.retryAfterSeconds));
}

function isTighter(state: RateLimitState, than: RateLimitState): boolean {
  if (state.allowed !== than.allowed) return !state.allowed;
  if (state.remaining !== than.remaining) return state.remaining < than.remaining;
  return state.resetSeconds > than.resetSeconds;
}
