import { Injectable } from '@nestjs/common';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import { EventBus } from '../../platform/events/index.js';
import { ApiKeyRevoked } from '../domain/access.events.js';
import type { ApiKey } from '../domain/api-key.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';

/** As in `AuthenticateApiKey`: a revocation must take effect in every process within five seconds. */
const TTL_MS = 4_000;
const MAX_ENTRIES = 10_000;

/** Checks whether the key that created a session or a similar credential is still valid. */
@Injectable()
export class UsableApiKeys {
  /** Without the rest of the entity, which would keep its unit of work in memory. */
  private readonly cache: TtlCache<Pick<ApiKey, 'expiresAt'>>;

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
    const key = await this.cache.get(keyId, async () => {
      const found = await this.keys.find(organizationId, keyId);
      return found && { expiresAt: found.expiresAt };
    });
    return key !== undefined && (key.expiresAt === null || key.expiresAt > this.clock.now());
  }
}
