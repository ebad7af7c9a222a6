import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database, type SqlExecutor, type Transaction } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, type SealedSecret, sealSecret, type SecretRef, SecretUnreadable } from './sealed-secret.js';

interface SecretRow extends SealedSecret {
  readonly position: number;
}

/** Secrets at rest: each under a data key of its own, which the master key wraps (`sealSecret`). */
@Injectable()
export class Vault {
  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
    private readonly clock: Clock,
  ) {}

  /** Stores the secret in the caller's transaction, replacing the one already there. */
  async put(transaction: Transaction, ref: SecretRef, plaintext: string): Promise<void> {
    // Chosen and sent in one step: a rotation that begins later finds the row under the key that it looks for.
    const sealed = sealSecret(this.masterKeys.current, ref, Buffer.from(plaintext, 'utf8'));
    await transaction.query(
      `insert into secrets (organization_id, record_id, field, ciphertext, nonce, wrapped_key, key_id, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)
       on conflict (organization_id, record_id, field) do update set ciphertext = excluded.ciphertext,
         nonce = excluded.nonce, wrapped_key = excluded.wrapped_key, key_id = excluded.key_id,
         updated_at = excluded.updated_at`,
      [
        ref.organizationId,
        ref.recordId,
        ref.field,
        sealed.ciphertext,
        sealed.nonce,
        sealed.wrapped_key,
        sealed.key_id,
        this.clock.now().toISOString(),
      ],
    );
  }

  /** @throws SecretUnreadable when there is none, or what is there was not written for this place */
  async read(ref: SecretRef): Promise<string> {
    const [secret] = await this.readMany([ref]);
    if (secret === undefined) throw new SecretUnreadable(`There is no secret at ${placeOf(ref)}`);
    return secret;
  }

  /**
   * Reads any number of secrets with one statement.
   * @param source the caller's transaction, where it has one: the embedded database has a single connection
   * @returns the secrets in the order asked, `undefined` where none is stored
   * @throws SecretUnreadable when one of them does not open
   */
  async readMany(
    refs: readonly SecretRef[],
    source: SqlExecutor = this.database,
  ): Promise<(string | undefined)[]> {
    if (refs.length === 0) return [];
    const rows = await source.query<SecretRow>(
      `select asked.position, s.ciphertext, s.nonce, s.wrapped_key, s.key_id
       from jsonb_to_recordset($1::jsonb)
         as asked (position int, organization_id uuid, record_id uuid, field text)
       join secrets s using (organization_id, record_id, field)`,
      [JSON.stringify(refs.map((ref, position) => ({ position, ...columns(ref) })))],
    );
    const byPosition = new Map(rows.map((row) => [row.position, row]));
    return refs.map((ref, position) => {
      const row = byPosition.get(position);
      return row && openSecret(this.masterKeys, ref, row).toString('utf8');
    });
  }

  async remove(transaction: Transaction, refs: readonly SecretRef[]): Promise<void> {
    if (refs.length === 0) return;
    await transaction.query(
      `delete from secrets s using jsonb_to_recordset($1::jsonb)
         as gone (organization_id uuid, record_id uuid, field text)
       where (s.organization_id, s.record_id, s.field) = (gone.organization_id, gone.record_id, gone.field)`,
      [JSON.stringify(refs.map(columns))],
    );
  }

  /** Removes every secret of one record, whatever its fields are called. */
  async removeRecord(transaction: Transaction, organizationId: string, recordId: string): Promise<void> {
    await transaction.query('delete from secrets where organization_id = $1 and record_id = $2', [
      organizationId,
      recordId,
    ]);
  }
}

function columns(ref: SecretRef): { organization_id: string; record_id: string; field: string } {
  return { organization_id: ref.organizationId, record_id: ref.recordId, field: ref.field };
}
