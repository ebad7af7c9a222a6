import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { ApiKeyRevoked } from '../domain/access.events.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import type { StoredKeyState } from '../persistence/credentials.sql.js';

/** As for requests with the key itself: its revocation is noticed in every process within five seconds. */
const TTL_MS = 4_000;
const MAX_ENTRIES = 10_000;

/** Tells whether a key is still good, for what was handed out by it. */
@Injectable()
export class UsableApiKeys {
  private readonly cache: TtlCache<StoredKeyState>;

  constructor(
    private readonly clock: Clock,
    events: EventBus,
    private readonly keys: ApiKeyRepository,
  ) {
    this.cache = new TtlCache({ clock, ttlMs: TTL_MS, maxEntries: MAX_ENTRIES });
    events.subscribe(ApiKeyRevoked, ({ keyId }) => {
      this.cache.delete(keyId);
    });
  }

  /** Whether the organization has the key, neither revoked nor expired. */
  async isUsable(organizationId: string, keyId: string): Promise<boolean> {
    const state = await this.cache.get(keyId, () => this.keys.findState(organizationId, keyId));
    return state !== undefined && (state.expiresAt === null || state.expiresAt > this.clock.now());
  }
}
