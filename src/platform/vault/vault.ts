import { Injectable } from '@nestjs/common';
import { Clock } from '../clock/index.js';
import { Database, type SqlExecutor, type Transaction } from '../database/index.js';
import { MasterKeys } from './master-keys.js';
import { openSecret, placeOf, sealSecret, type SecretRef, SecretUnreadable } from './sealed-secret.js';
import { selectSecrets } from './secrets.sql.js';
import { StoredSecret } from './vault.schema.js';

/** Stored secrets, each encrypted with its own data key, which the master key wraps (`sealSecret`). */
@Injectable()
export class Vault {
  constructor(
    private readonly database: Database,
    private readonly masterKeys: MasterKeys,
    private readonly clock: Clock,
  ) {}

  async put({ em }: Transaction, ref: SecretRef, plaintext: string): Promise<void> {
    // The key is chosen in the same step in which the row is sent, so a rotation that begins later finds the row.
    const sealed = sealSecret(this.masterKeys.current, ref, Buffer.from(plaintext, 'utf8'));
    const row = { ...placed(ref), ...sealed, updatedAt: this.clock.now() };
    await em.upsert(StoredSecret, row, { disableIdentityMap: true });
  }

  /** @throws SecretUnreadable if there is none, or it was encrypted for another place */
  async read(ref: SecretRef): Promise<string> {
    const [secret] = await this.readMany([ref]);
    if (secret === undefined) throw new SecretUnreadable(`There is no secret at ${placeOf(ref)}`);
    return secret;
  }

  /**
   * Reads any number of secrets with one statement.
   * @param source the caller's transaction, if it has one: the embedded database has a single connection
   * @returns the secrets in the order of `refs`, `undefined` if none is stored
   * @throws SecretUnreadable if one of them cannot be decrypted
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

  async removeRecord({ em }: Transaction, organizationId: string, recordId: string): Promise<void> {
    await em.nativeDelete(StoredSecret, { organizationId, recordId });
  }
}

/** The reference without other properties of the caller's object. */
function placed({ organizationId, recordId, field }: SecretRef): SecretRef {
  return { organizationId, recordId, field };
}
