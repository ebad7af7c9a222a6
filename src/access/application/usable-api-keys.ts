import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { ApiKeyRevoked } from '../domain/access.events.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';
import type { StoredCredential } from '../persistence/credentials.sql.js';

/** As in `AuthenticateApiKey`: a revocation must take effect in every process within five seconds. */
const TTL_MS = 4_000;
const MAX_ENTRIES = 10_000;

/** Checks whether the key that created a session or a similar credential is still valid. */
@Injectable()
export class UsableApiKeys {
  private readonly cache: TtlCache<Pick<StoredCredential, 'expiresAt'>>;

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

  /** Whether the key belongs to the organization and is neither revoked nor expired. */
  async isUsable(organizationId: string, keyId: string): Promise<boolean> {
    const key = await this.cache.get(keyId, () => this.keys.findExpiry(organizationId, keyId));
    return key !== undefined && (key.expiresAt === null || key.expiresAt > this.clock.now());
  }
}
