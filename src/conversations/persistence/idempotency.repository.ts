import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { idempotencyMismatch } from '../domain/conversations.errors.js';
import { IDEMPOTENCY_HOURS, type IdempotentRequest } from '../domain/idempotency.js';
import { idempotencyKeys } from './conversations.entities.js';
import { CLAIM_KEY, PURGE_KEYS } from './idempotency.sql.js';

const REMEMBERED_MS = IDEMPOTENCY_HOURS * 3_600_000;

/** The start of a run claims its key in its own statement (`START_RUN`). */
@Injectable()
export class IdempotencyRepository {
  constructor(private readonly database: Database) {}

  /** @throws DomainError `unprocessable` when the key has named another request */
  async findResource(
    organizationId: string,
    { operation, key, fingerprint }: IdempotentRequest,
    now: Date,
  ): Promise<string | null> {
    const current = { organizationId, operation, key, createdAt: { $gte: forgottenBefore(now) } };
    const found = await this.database.read((em) => em.findOne(idempotencyKeys, current));
    if (found && found.fingerprint !== fingerprint) throw idempotencyMismatch();
    return found?.resourceId ?? null;
  }

  /**
   * Call in the transaction that does the work, so that the claim and the work are stored together. A concurrent repeat
   * waits at the unique index for this transaction's end.
   * @returns false when the key has made something before
   */
  async claim(
    transaction: Transaction,
    organizationId: string,
    request: IdempotentRequest,
    { id: resourceId, createdAt }: { readonly id: string; readonly createdAt: Date },
  ): Promise<boolean> {
    const rows = await CLAIM_KEY.run(transaction, {
      organizationId,
      ...request,
      resourceId,
      createdAt,
      forgottenBefore: forgottenBefore(createdAt),
    });
    return rows.length > 0;
  }

  /** Removes expired keys. @returns how many; 0 means that none is left */
  async purge(now: Date, limit: number): Promise<number> {
    return (await PURGE_KEYS.run(this.database, { forgottenBefore: forgottenBefore(now), limit })).length;
  }
}

function forgottenBefore(now: Date): Date {
  return new Date(now.getTime() - REMEMBERED_MS);
}
