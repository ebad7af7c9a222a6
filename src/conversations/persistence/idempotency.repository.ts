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

  async find(organizationId: string, { operation, key }: IdempotentRequest): Promise<IdempotencyRecord | null> {
    const rows = await this.database.query<{ fingerprint: string; resource_id: string }>(
      `select fingerprint, resource_id from idempotency_keys
       where organization_id = $1 and operation = $2 and key = $3`,
      [organizationId, operation, key],
    );
    const row = rows[0];
    return row ? { fingerprint: row.fingerprint, resourceId: row.resource_id } : null;
  }

  /** The same, unless it is so old that a repeat would be a new request. */
  async findCurrent(organizationId: string, request: IdempotentRequest, now: Date): Promise<IdempotencyRecord | null> {
    const rows = await this.database.query(
      `select 1 from idempotency_keys where organization_id = $1 and operation = $2 and key = $3
         and created_at >= $4::timestamptz - interval '${IDEMPOTENCY_HOURS} hours'`,
      [organizationId, request.operation, request.key, now.toISOString()],
    );
    return rows.length === 0 ? null : this.find(organizationId, request);
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
