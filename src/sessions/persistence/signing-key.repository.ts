import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import { Vault } from '../../platform/vault/index.js';
import { type SigningKey, signingKeys } from './sessions.schema.js';

/** Signing keys belong to the service. The vault requires an organization, so it gets this one. */
const NO_ORGANIZATION = '00000000-0000-0000-0000-000000000000';
const FIELD = 'private_key';
const LOCK = 'sessions.signing-keys';

const secretRef = (id: string) => ({ organizationId: NO_ORGANIZATION, recordId: id, field: FIELD });

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
    return this.vault.read(secretRef(id));
  }

  /**
   * Adds a key under a lock, so that two processes do not both add one.
   * @param decide gets the stored keys, newest first; null adds no key
   */
  addIfNeeded(
    decide: (known: readonly SigningKey[]) => { readonly key: SigningKey; readonly privateKey: string } | null,
  ): Promise<void> {
    return this.database.transaction(async (transaction) => {
      await transaction.lock(LOCK);
      const known = await transaction.em.findAll(signingKeys, { orderBy: { signsFrom: 'desc', id: 'desc' } });
      const added = decide(known);
      if (!added) return;
      transaction.em.persist(transaction.em.create(signingKeys, added.key));
      await this.vault.put(transaction, secretRef(added.key.id), added.privateKey);
    });
  }

  async purge(createdBefore: Date): Promise<void> {
    await this.database.transaction(async (transaction) => {
      const old = await transaction.em.find(signingKeys, { createdAt: { $lt: createdBefore } });
      for (const key of old) transaction.em.remove(key);
      await this.vault.remove(
        transaction,
        old.map(({ id }) => secretRef(id)),
      );
    });
  }
}
