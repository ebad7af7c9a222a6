import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database, type SqlExecutor, type Transaction } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, sealSecret, type SecretRef, SecretUnreadable } from './sealed-secret.js';
import { selectSecrets } from './secrets.sql.js';
import { StoredSecret } from './vault.schema.js';

/** Secrets at rest: each under a data key of its own, which the master key wraps (`sealSecret`). */
@Injectable()
export class Vault {
  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
    private readonly clock: Clock,
  ) {}

  /** Stores the secret in the caller's transaction, replacing the one already there. */
  async put({ em }: Transaction, ref: SecretRef, plaintext: string): Promise<void> {
    // Chosen and sent in one step: a rotation that begins later finds the row under the key that it looks for.
    const sealed = sealSecret(this.masterKeys.current, ref, Buffer.from(plaintext, 'utf8'));
    const row = { ...placed(ref), ...sealed, updatedAt: this.clock.now() };
    await em.upsert(StoredSecret, row, { disableIdentityMap: true });
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
  async readMany(refs: readonly SecretRef[], source: SqlExecutor = this.database): Promise<(string | undefined)[]> {
    if (refs.length === 0) return [];
    const found = await selectSecrets(source, refs);
    return refs.map((ref, position) => {
      const sealed = found.get(position);
      return sealed && openSecret(this.masterKeys, ref, sealed).toString('utf8');
    });
  }

  async remove({ em }: Transaction, refs: readonly SecretRef[]): Promise<void> {
    if (refs.length > 0) await em.nativeDelete(StoredSecret, { $or: refs.map(placed) });
  }

  /** Removes every secret of one record, whatever its fields are called. */
  async removeRecord({ em }: Transaction, organizationId: string, recordId: string): Promise<void> {
    await em.nativeDelete(StoredSecret, { organizationId, recordId });
  }
}

/** The reference alone: a caller's object may carry more. */
function placed({ organizationId, recordId, field }: SecretRef): SecretRef {
  return { organizationId, recordId, field };
}
