import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';

/** The precision of `lastUsedAt`: a busy key is written this often. */
const PRECISION_MS = 60_000;
/** How long uses are collected before one statement writes them. */
const FLUSH_EVERY_MS = 10_000;

/** Updates `lastUsedAt` in the background, so that requests do not wait for it. */
@Injectable()
export class RecordKeyUse implements BeforeApplicationShutdown {
  private readonly logger = new Logger(RecordKeyUse.name);
  private readonly pending = new Map<string, Date>();
  /** When the use of each key was last written, in monotonic time. */
  private readonly written = new Map<string, number>();
  private readonly stop: () => void;

  constructor(
    private readonly clock: Clock,
    private readonly keys: ApiKeyRepository,
  ) {
    this.stop = clock.every(FLUSH_EVERY_MS, () => void this.flush());
  }

  record(keyId: string): void {
    const written = this.written.get(keyId);
    if (written === undefined || this.clock.monotonic() - written >= PRECISION_MS)
      this.pending.set(keyId, this.clock.now());
  }

  /** Writes the collected uses. Those that cannot be written are kept for the next time. */
  async flush(): Promise<void> {
    const uses = new Map(this.pending);
    this.pending.clear();
    this.forgetOld();
    if (uses.size === 0) return;
    const writtenAt = this.clock.monotonic();
    try {
      await this.keys.recordUses(uses, PRECISION_MS);
      for (const keyId of uses.keys()) this.written.set(keyId, writtenAt);
    } catch (error) {
      for (const [keyId, at] of uses) if (!this.pending.has(keyId)) this.pending.set(keyId, at);
      this.logger.warn(`The last use of ${uses.size} API keys could not be stored yet`, error);
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stop();
    await this.flush();
  }

  private forgetOld(): void {
    const limit = this.clock.monotonic() - PRECISION_MS;
    for (const [keyId, at] of this.written) if (at <= limit) this.written.delete(keyId);
  }
}
