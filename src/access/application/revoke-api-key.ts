import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { Database } from '../../platform/database/index.js';
import { EventBus } from '../../platform/events/index.js';
import { ApiKeyNotFound } from '../domain/access.errors.js';
import { ApiKeyRevoked } from '../domain/access.events.js';
import { ApiKeyRepository } from '../persistence/api-key.repository.js';

/** Revokes a key: in this process at once, in every other process within five seconds. */
@Injectable()
export class RevokeApiKey {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly events: EventBus,
    private readonly keys: ApiKeyRepository,
  ) {}

  /**
   * @param organizationId undefined for the operator, who may revoke a key of any organization
   * @throws ApiKeyNotFound, also when the key is already revoked
   */
  async execute(organizationId: string | undefined, id: string): Promise<void> {
    const key = await this.database.transaction(async (transaction) => {
      const found = await this.keys.findForChange(transaction, organizationId, id);
      if (found?.revokedAt !== null) throw new ApiKeyNotFound(id);
      found.revoke(this.clock.now());
      return found;
    });
    this.events.publish(new ApiKeyRevoked(key.id, Buffer.from(key.digest).toString('hex')));
  }
}
