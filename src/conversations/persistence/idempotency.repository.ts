import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Database, rowsOf, type Transaction } from '../../platform/database/index.js';
import { IDEMPOTENCY_HOURS, type IdempotentRequest } from '../domain/idempotency.js';
import { idempotencyKeys, tables } from './conversations.entities.js';

/** What the first request with a key has made. */
export interface IdempotencyRecord {
  readonly fingerprint: string;
  readonly resourceId: string;
}

const KEY = ['organization_id', 'operation', 'key'] as const;
const REMEMBERED_MS = IDEMPOTENCY_HOURS * 3_600_000;

/** The start of a run claims its key in its own statement. */
@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /**
   * What the first request has made, unless it is so old that a repeat would be a new request.
   * @param now the time of the repeat
   */
  findCurrent(
    organizationId: string,
    { operation, key }: IdempotentRequest,
    now: Date,
  ): Promise<IdempotencyRecord | null> {
    const createdAt = { $gte: oldest(now) };
    return this.database.read((em) => em.findOne(idempotencyKeys, { organizationId, operation, key, createdAt }));
  }

  /**
   * Part of the transaction that does the work, so the claim and the work are kept together or not at all; a repeat at
   * the same moment waits for the first one's end at the unique index.
   * @returns false when the key has made something before
   */
  async claim(
    transaction: Transaction,
    organizationId: string,
    { operation, key, fingerprint }: IdempotentRequest,
    made: { readonly id: string; readonly createdAt: Date },
  ): Promise<boolean> {
    const created_at = made.createdAt.toISOString();
    const claim = tables
      .insertInto('idempotency_keys')
      .values({ organization_id: organizationId, operation, key, fingerprint, resource_id: made.id, created_at })
      .onConflict((conflict) =>
        conflict
          .columns(KEY)
          .doUpdateSet((eb) => ({
            fingerprint: eb.ref('excluded.fingerprint'),
            resource_id: eb.ref('excluded.resource_id'),
            created_at: eb.ref('excluded.created_at'),
          }))
          .where('idempotency_keys.created_at', '<', oldest(made.createdAt).toISOString()),
      )
      .returning('resource_id');
    return (await rowsOf(transaction, claim)).length > 0;
  }

  /** @returns how many were removed; 0 means that none is left */
  async purge(now: Date, batch: number): Promise<number> {
    const due = tables
      .selectFrom('idempotency_keys')
      .select(KEY)
      .where('created_at', '<', oldest(now).toISOString())
      .limit(batch);
    const removal = tables
      .deleteFrom('idempotency_keys')
      .where(sql<boolean>`(organization_id, operation, key) in (${due})`)
      .returning('key');
    return (await rowsOf(this.database, removal)).length;
  }
}

/** A key that was claimed before this is forgotten. */
function oldest(now: Date): Date {
  return new Date(now.getTime() - REMEMBERED_MS);
}
