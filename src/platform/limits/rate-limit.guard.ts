import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerOptions } from '@nestjs/throttler';
import type { FastifyReply } from 'fastify';
import { LimitStorage, type WindowRecord, type WindowRequest } from './limit-storage.js';

/** A window of a request, and its state after the request was counted. */
export interface CountedWindow extends WindowRequest, WindowRecord {}

/** A throttler with the same limit and window for all requests. */
export type FixedThrottler = ThrottlerOptions & { readonly name: string; readonly limit: number; readonly ttl: number };

/**
 * The throttler's guard for requests that count against several limits: it counts in all in one step, and a refused request in
 * none. Every response has the headers `RateLimit-Limit`, `-Remaining` and `-Reset` (seconds) of the tightest limit.
 */
@Injectable()
export abstract class RateLimitGuard extends ThrottlerGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const windows = await this.count(context);
    if (windows.length === 0) return true;
    const tightest = tightestOf(windows);
    if (tightest.isBlocked) throw this.refusal(tightest);
    return true;
  }

  /** Counts the request and sets the headers, without refusing it. @returns an empty list when no limit applies */
  async count(context: ExecutionContext): Promise<readonly CountedWindow[]> {
    const throttlers = (this.throttlers as FixedThrottler[]).filter(({ skipIf }) => !skipIf?.(context));
    if (throttlers.length === 0) return [];
    const requests = await Promise.all(
      throttlers.map(async ({ name, ttl, limit }) => ({
        throttler: name,
        key: await this.keyOf(name, context),
        ttl,
        limit,
      })),
    );
    const records = await this.storage.incrementAll(requests);
    const windows = requests.flatMap((request, index) => {
      const record = records[index];
      return record ? [{ ...request, ...record }] : [];
    });
    setRateLimitHeaders(context.switchToHttp().getResponse<FastifyReply>(), tightestOf(windows));
    return windows;
  }

  /** Requests with the same key share a window. */
  protected abstract keyOf(throttler: string, context: ExecutionContext): Promise<string>;

  /** The error of a refused request. */
  protected abstract refusal(window: CountedWindow): Error;

  private get storage(): LimitStorage {
    if (!(this.storageService instanceof LimitStorage)) throw new Error('The throttler must have a LimitStorage');
    return this.storageService;
  }
}

export function setRateLimitHeaders(
  reply: FastifyReply,
  { limit, ...window }: WindowRecord & { readonly limit: number },
): void {
  void reply.headers({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - window.totalHits)),
    'RateLimit-Reset': String(window.timeToExpire),
  });
}

/** The full window that ends last, so that a client waits for all of them; without a full one, that with the fewest requests left. */
function tightestOf(windows: readonly CountedWindow[]): CountedWindow {
  return windows.reduce((tightest, window) => {
    if (window.isBlocked !== tightest.isBlocked) return window.isBlocked ? window : tightest;
    if (window.isBlocked) return window.timeToExpire > tightest.timeToExpire ? window : tightest;
    return window.limit - window.totalHits < tightest.limit - tightest.totalHits ? window : tightest;
  });
}
