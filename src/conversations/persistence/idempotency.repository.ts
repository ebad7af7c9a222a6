import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { IdempotentRequest } from '../domain/idempotency.js';
import { IDEMPOTENCY_HOURS } from './idempotency.sql.js';

/** What the first request with a key has made. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly resourceId: string;
}

@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /**
   * What the first request has made, unless it is so old that a repeat would be a new request.
   * @param asOf the time of the repeat
   */
  async findCurrent(
    organizationId: string,
    { operation, key }: IdempotentRequest,
    asOf: Date,
  ): Promise<IdempotencyRecord | null> {
    const [row] = await this.database.query<{ fingerprint: string; resource_id: string }>(
      `select fingerprint, resource_id from idempotency_keys where organization_id = $1 and operation = $2 and key = $3
         and created_at >= $4::timestamptz - interval '${IDEMPOTENCY_HOURS} hours'`,
      [organizationId, operation, key, asOf.toISOString()],
    );
    return row ? { fingerprint: row.fingerprint, resourceId: row.resource_id } : null;
  }

  /** @returns how many were removed; 0 means that none is left */
  async purge(now: Date, batch: number): Promise<number> {
    const removed = await this.database.query(
      `delete from idempotency_keys where (organization_id, operation, key) in (
         select organization_id, operation, key from idempotency_keys
         where created_at < $1::timestamptz - interval '${IDEMPOTENCY_HOURS} hours' limit $2
       ) returning key`,
      [now.toISOString(), batch],
    );
    return removed.length;
  }
}
