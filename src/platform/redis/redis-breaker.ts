import { Redis, ReplyError } from 'ioredis';
import type { Clock } from '../clock/index.js';
import type { RedisClient } from './open-redis.js';

/** How long no command is sent after one without an answer. Longer than a command may take, so that one at a time tries again. */
const PAUSE_MS = 1_000;

/** Refuses commands for a while once Redis did not answer, so that only one of many requests waits for it. */
export class RedisBreaker {
  private retryAt: number | undefined;

  constructor(
    private readonly redis: RedisClient,
    private readonly clock: Clock,
  ) {}

  /** After each pause false for one command, which tries again. */
  refuses(): boolean {
    if (this.retryAt === undefined) return false;
    const now = this.clock.monotonic();
    if (now < this.retryAt) return true;
    this.retryAt = now + PAUSE_MS;
    return false;
  }

  worked(): void {
    this.retryAt = undefined;
  }

  failed(error: unknown): void {
    if (error instanceof ReplyError) return;
    this.retryAt = this.clock.monotonic() + PAUSE_MS;
    reconnect(this.redis, error);
  }
}

/**
 * After a command without an answer: what waits for one fails now, and commands fail at once until a new connection answers. The
 * old one may lead to a host that is gone.
 */
export function reconnect(redis: RedisClient, error: unknown): void {
  // Not in a cluster, whose other nodes answer; one that does not ends by itself.
  const isSilent = redis instanceof Redis && redis.status === 'ready' && !(error instanceof ReplyError);
  if (isSilent) redis.disconnect(true);
}
