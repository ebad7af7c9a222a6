import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { DomainError } from '../../platform/errors/index.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import type { StoredCredential } from '../persistence/credentials.sql.js';

/**
 * Limits the statements that fail, or in which a key does not exist: this many without a pause, then one in each interval, which
 * is at most 60 in any minute. Statements in which all keys exist do not count.
 */
const BURST = 12;
const INTERVAL_MS = 1_250;
/** In one statement. */
const MAX_DIGESTS = 10_000;
/** Different keys that wait for a statement; bounds the memory during a flood. */
const MAX_WAITING = 50_000;

interface Waiting {
  readonly digest: Buffer;
  readonly answer: PromiseWithResolvers<StoredCredential | undefined>;
}

/**
 * Looks up keys that this process does not know. One statement runs at a time, and the keys that arrive during it share the
 * next one. Statements with invented keys are limited, so a flood costs the database little, and a valid key among them waits for
 * about a second instead of being refused.
 */
@Injectable()
export class BatchedKeyLookup {
  /** By digest in hex, in the order of arrival. */
  private readonly waiting = new Map<string, Waiting>();
  private isLookingUp = false;
  private allowed = BURST;
  private countedAt: number;

  constructor(
    private readonly clock: Clock,
    private readonly keys: ApiKeyRepository,
  ) {
    this.countedAt = clock.monotonic();
  }

  /**
   * @returns the key with this digest, which may have expired; undefined when it does not exist or is revoked
   * @throws DomainError `unavailable` when `MAX_WAITING` other keys wait; the errors of the statement
   */
  async find(digest: Buffer): Promise<StoredCredential | undefined> {
    const name = digest.toString('hex');
    const waiting = this.waiting.get(name) ?? this.add(name, digest);
    if (!this.isLookingUp) void this.lookUpWaiting();
    return await waiting.answer.promise;
  }

  private add(name: string, digest: Buffer): Waiting {
    if (this.waiting.size >= MAX_WAITING) {
      const message = 'Too many API keys wait to be checked. Try again in a second.';
      throw new DomainError('unavailable', message, { retryAfterSeconds: 1 });
    }
    const waiting = { digest, answer: Promise.withResolvers<StoredCredential | undefined>() };
    this.waiting.set(name, waiting);
    return waiting;
  }

  private async lookUpWaiting(): Promise<void> {
    this.isLookingUp = true;
    while (this.waiting.size > 0) {
      await this.untilAllowed();
      const batch = [...this.waiting].slice(0, MAX_DIGESTS);
      for (const [name] of batch) this.waiting.delete(name);
      if (!(await this.lookUp(batch))) this.allowed -= 1;
    }
    this.isLookingUp = false;
  }

  private async untilAllowed(): Promise<void> {
    const passed = this.clock.monotonic() - this.countedAt;
    const earned = Math.floor(passed / INTERVAL_MS);
    this.allowed = Math.min(BURST, this.allowed + earned);
    this.countedAt += earned * INTERVAL_MS;
    if (this.allowed > 0) return;
    await this.clock.sleep(INTERVAL_MS - (passed % INTERVAL_MS));
    await this.untilAllowed();
  }

  /** @returns whether all of the keys exist */
  private async lookUp(batch: readonly (readonly [string, Waiting])[]): Promise<boolean> {
    try {
      const found = await this.keys.findCredentials(batch.map(([, { digest }]) => digest));
      for (const [name, { answer }] of batch) answer.resolve(found.get(name));
      return found.size === batch.length;
    } catch (error) {
      for (const [, { answer }] of batch) answer.reject(error);
      return false;
    }
  }
}
