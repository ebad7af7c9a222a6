import { Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerRequest } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * The throttler's guard with the header names of the interface: `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds)
 * on every response, and `Retry-After` where the request is refused. Of several limits the client is told the tightest.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  protected override async handleRequest(request: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler, blockDuration, getTracker, generateKey } = request;
    const http = context.switchToHttp();
    const { name = 'default' } = throttler;
    const tracker = await getTracker(http.getRequest<FastifyRequest>(), context);
    const key = generateKey(context, tracker, name);
    const window = await this.storageService.increment(key, ttl, limit, blockDuration, name);
    const reply = http.getResponse<FastifyReply>();
    const remaining = Math.max(0, limit - window.totalHits);
    const told = reply.getHeader('RateLimit-Remaining');
    if (told === undefined || window.isBlocked || remaining <= Number(told)) {
      void reply.headers({
        'RateLimit-Limit': String(limit),
        'RateLimit-Remaining': String(remaining),
        'RateLimit-Reset': String(window.timeToExpire),
      });
    }
    if (window.isBlocked) {
      void reply.header('Retry-After', String(window.timeToBlockExpire));
      await this.throwThrottlingException(context, { limit, ttl, key, tracker, ...window });
    }
    return true;
  }
}
