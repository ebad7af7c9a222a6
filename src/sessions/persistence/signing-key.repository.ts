import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Vault } from '../../platform/vault/index.js';
import { type SigningKey, signingKeys } from './sessions.schema.js';

/** Keys belong to the service and to no organization; the vault binds their secrets to this instead. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';
const FIELD = 'private_key';
const LOCK = 'sessions.signing-keys';

const refOf = (id: string) => ({ organizationId: NO_ORGANIZATION, recordId: id, field: FIELD });

@Injectable()
export class SigningKeyRepository {
  constructor(
    private readonly database: Database,
    private readonly vault: Vault,
  ) {}

  /** Newest first. */
  list(): Promise<SigningKey[]> {
    return this.database.read((em) => em.findAll(signingKeys, { orderBy: { signsFrom: 'desc', id: 'desc' } }));
  }

  /** PKCS#8 in PEM. @throws SecretUnreadable */
  privateKey(id: string): Promise<string> {
    return this.vault.read(refOf(id));
  }

  /**
   * Lets one process after the other decide upon a new key.
   * @param decide gets the keys as they are, newest first; null adds none
   */
  addUnder(
    decide: (known: readonly SigningKey[]) => { readonly key: SigningKey; readonly privateKey: string } | null,
  ): Promise<void> {
    return this.database.transaction(async (transaction: Transaction) => {
      await transaction.lock(LOCK);
      const known = await transaction.em.findAll(signingKeys, { orderBy: { signsFrom: 'desc', id: 'desc' } });
      const added = decide(known);
      if (!added) return;
      transaction.em.persist(transaction.em.create(signingKeys, added.key));
      await this.vault.put(transaction, refOf(added.key.id), added.privateKey);
    });
  }

  async purge(createdBefore: Date): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const old = await transaction.em.find(signingKeys, { createdAt: { $lt: createdBefore } });
      for (const key of old) transaction.em.remove(key);
      await this.vault.remove(
        transaction,
        old.map(({ id }) => refOf(id)),
      );
    });
  }
}
