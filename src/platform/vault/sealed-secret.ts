import { randomBytes } from 'node:crypto';
import type { MasterKey } from './master-key.js';
import type { MasterKeys } from './master-keys.js';
import { decrypt, encrypt, NONCE_BYTES } from './sealed-box.js';

/** The place of a secret. A ciphertext can be decrypted only for the place for which it was encrypted. */
export interface SecretRef {
  readonly organizationId: string;
  readonly recordId: string;
  /** The name of the secret within its record, such as `provider.apiKey`. */
  readonly field: string;
}

/** A stored secret cannot be decrypted. The message is for the log: it names the place, never the content. */
export class SecretUnreadable extends Error {}

export interface SealedSecret {
  readonly ciphertext: Buffer;
  readonly nonce: Buffer;
  readonly wrappedKey: Buffer;
  readonly keyId: string;
}

const DATA_KEY_BYTES = 32;

/**
 * Encrypts a secret with its own data key (AES-256-GCM), which the master key wraps. Both ciphertexts are bound to the organization,
 * the record, the field and the master key's id.
 */
export function sealSecret(masterKey: MasterKey, ref: SecretRef, plaintext: Buffer): SealedSecret {
  const dataKey = randomBytes(DATA_KEY_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  return {
    ciphertext: encrypt(dataKey, nonce, plaintext, boundTo('value', ref, masterKey.id)),
    nonce,
    wrappedKey: masterKey.wrap(dataKey, boundTo('data key', ref, masterKey.id)),
    keyId: masterKey.id,
  };
}

/** @throws SecretUnreadable if no key here decrypts it, or it was encrypted for another place */
export function openSecret(masterKeys: MasterKeys, ref: SecretRef, sealed: SealedSecret): Buffer {
  const { keyId } = sealed;
  const masterKey = masterKeys.find(keyId);
  if (!masterKey) {
    throw new SecretUnreadable(
      `The secret at ${placeOf(ref)} was encrypted with master key ${keyId}; this process encrypts with ${masterKeys.current.id}`,
    );
  }
  try {
    const dataKey = masterKey.unwrap(sealed.wrappedKey, boundTo('data key', ref, keyId));
    const context = boundTo('value', ref, keyId);
    return decrypt(dataKey, sealed.nonce, sealed.ciphertext, context);
  } catch (error) {
    throw new SecretUnreadable(`The secret at ${placeOf(ref)} was changed or belongs to another place`, {
      cause: error,
    });
  }
}

export function placeOf({ organizationId, recordId, field }: SecretRef): string {
  return `${organizationId}/${recordId}/${field}`;
}

/** PostgreSQL accepts several spellings of a UUID; the binding has only one. */
function boundTo(purpose: 'value' | 'data key', ref: SecretRef, keyId: string): Buffer {
  const { organizationId, recordId, field } = ref;
  return Buffer.from(JSON.stringify([purpose, keyId, organizationId.toLowerCase(), recordId.toLowerCase(), field]));
}
