import { type ExecutionContext, Injectable } from '@nestjs/common';
import { ThrottlerGuard, type ThrottlerOptions } from '@nestjs/throttler';
import type { FastifyReply } from 'fastify';
import { LimitStorage, type WindowRecord, type WindowRequest } from './limit-storage.js';

/** A window that a request counts in, and what it is like with the request. */
export interface CountedWindow extends WindowRequest, WindowRecord {}

/** A throttler whose limit and window are the same for all. */
export type FixedThrottler = ThrottlerOptions & { readonly name: string; readonly limit: number; readonly ttl: number };

/**
 * The throttler's guard for requests that count against several limits: all are counted in one step, and a refused
 * request in none. Its headers are those of the interface, on every response: `RateLimit-Limit`, `-Remaining` and
 * `-Reset` (seconds), of the tightest limit.
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

  /** Counts the request and tells the client, without refusing it. @returns none where no limit concerns it */
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
    tellWindow(context.switchToHttp().getResponse<FastifyReply>(), tightestOf(windows));
    return windows;
  }

  /** Who is counted together. */
  protected abstract keyOf(throttler: string, context: ExecutionContext): Promise<string>;

  /** What a request is refused with. */
  protected abstract refusal(window: CountedWindow): Error;

  private get storage(): LimitStorage {
    if (!(this.storageService instanceof LimitStorage))
      throw new Error('The throttler counts in a storage of another kind');
    return this.storageService;
  }
}

/** Tells the client of one window. */
export function tellWindow(reply: FastifyReply, { limit, ...window }: WindowRecord & { readonly limit: number }): void {
  void reply.headers({
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(Math.max(0, limit - window.totalHits)),
    'RateLimit-Reset': String(window.timeToExpire),
  });
}

/** The full bucket that stays full longest: a client that waits for it has waited for all. */
function tightestOf(windows: readonly CountedWindow[]): CountedWindow {
  return windows.reduce((tightest, window) => {
    if (window.isBlocked !== tightest.isBlocked) return window.isBlocked ? window : tightest;
    if (window.isBlocked) return window.timeToExpire > tightest.timeToExpire ? window : tightest;
    return window.limit - window.totalHits < tightest.limit - tightest.totalHits ? window : tightest;
  });
}
