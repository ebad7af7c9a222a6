import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database, type SqlExecutor, type Transaction } from '../database/index.js';
import { MasterKey } from './master-key.js';
import { decrypt, encrypt, NONCE_BYTES } from './sealed-box.js';

/** Where a secret belongs. A ciphertext opens under the reference it was written for and no other. */
export interface SecretRef {
  readonly organizationId: string;
  /** The record that owns the secret (an agent, an integration). */
  readonly recordId: string;
  /** Names the secret within its record, such as `provider.apiKey`. */
  readonly field: string;
}

/** A stored secret does not open. For the log: it names the place, never the content. */
export class SecretUnreadable extends Error {}

interface SecretRow {
  readonly position: number;
  readonly ciphertext: Uint8Array;
  readonly nonce: Uint8Array;
  readonly wrapped_key: Uint8Array;
  readonly key_id: string;
}

const DATA_KEY_BYTES = 32;

/**
 * Secrets at rest: each under a data key of its own (AES-256-GCM), which the master key wraps; both
 * boxes are bound to the organization, the record, the field and the master key's id.
 */
@Injectable()
export class Vault {
  constructor(
    private readonly database: Database,
    private readonly masterKey: MasterKey,
    private readonly clock: Clock,
  ) {}

  /** Stores the secret in the caller's transaction, replacing the one already there. */
  async put(transaction: Transaction, ref: SecretRef, plaintext: string): Promise<void> {
    const dataKey = randomBytes(DATA_KEY_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    const keyId = this.masterKey.id;
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
        encrypt(dataKey, nonce, Buffer.from(plaintext, 'utf8'), boundTo('value', ref, keyId)),
        nonce,
        this.masterKey.wrap(dataKey, boundTo('data key', ref, keyId)),
        keyId,
        this.clock.now().toISOString(),
      ],
    );
  }

  /** @throws SecretUnreadable when there is none, or what is there was not written for this place */
  async read(ref: SecretRef): Promise<string> {
    const [secret] = await this.readMany([ref]);
    if (secret === undefined) throw new SecretUnreadable(`There is no secret at ${describe(ref)}`);
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
      return row && this.decrypt(ref, row);
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

  private decrypt(ref: SecretRef, row: SecretRow): string {
    const keyId = row.key_id;
    if (keyId !== this.masterKey.id) {
      throw new SecretUnreadable(
        `The secret at ${describe(ref)} was written under master key ${keyId}; this process holds ${this.masterKey.id}`,
      );
    }
    try {
      const dataKey = this.masterKey.unwrap(Buffer.from(row.wrapped_key), boundTo('data key', ref, keyId));
      const context = boundTo('value', ref, keyId);
      return decrypt(dataKey, Buffer.from(row.nonce), Buffer.from(row.ciphertext), context).toString('utf8');
    } catch (error) {
      throw new SecretUnreadable(`The secret at ${describe(ref)} was changed or belongs elsewhere`, { cause: error });
    }
  }
}

/** A UUID has several spellings to PostgreSQL; the binding knows one. */
function boundTo(purpose: 'value' | 'data key', ref: SecretRef, keyId: string): Buffer {
  const { organizationId, recordId, field } = ref;
  return Buffer.from(JSON.stringify([purpose, keyId, organizationId.toLowerCase(), recordId.toLowerCase(), field]));
}

function columns(ref: SecretRef): { organization_id: string; record_id: string; field: string } {
  return { organization_id: ref.organizationId, record_id: ref.recordId, field: ref.field };
}

function describe(ref: SecretRef): string {
  return `${ref.organizationId}/${ref.recordId}/${ref.field}`;
}
