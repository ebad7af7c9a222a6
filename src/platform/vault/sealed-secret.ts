import { randomBytes } from 'node:crypto';
import type { MasterKey } from './master-key.js';
import type { MasterKeys } from './master-keys.js';
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

/** What is stored of a secret: the columns of its row besides its place. */
export interface SealedSecret {
  readonly ciphertext: Buffer;
  readonly nonce: Buffer;
  readonly wrappedKey: Buffer;
  readonly keyId: string;
}

const DATA_KEY_BYTES = 32;

/**
 * Encrypts a secret under a data key of its own (AES-256-GCM), which the master key wraps; both boxes are bound to
 * the organization, the record, the field and the master key's id.
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

/** @throws SecretUnreadable when no key here opens it, or it was not written for this place */
export function openSecret(masterKeys: MasterKeys, ref: SecretRef, sealed: SealedSecret): Buffer {
  const { keyId } = sealed;
  const masterKey = masterKeys.find(keyId);
  if (!masterKey) {
    throw new SecretUnreadable(
      `The secret at ${placeOf(ref)} was written under master key ${keyId}; this process writes under ${masterKeys.current.id}`,
    );
  }
  try {
    const dataKey = masterKey.unwrap(sealed.wrappedKey, boundTo('data key', ref, keyId));
    const context = boundTo('value', ref, keyId);
    return decrypt(dataKey, sealed.nonce, sealed.ciphertext, context);
  } catch (error) {
    throw new SecretUnreadable(`The secret at ${placeOf(ref)} was changed or belongs elsewhere`, { cause: error });
  }
}

export function placeOf({ organizationId, recordId, field }: SecretRef): string {
  return `${organizationId}/${recordId}/${field}`;
}

/** A UUID has several spellings to PostgreSQL; the binding knows one. */
function boundTo(purpose: 'value' | 'data key', ref: SecretRef, keyId: string): Buffer {
  const { organizationId, recordId, field } = ref;
  return Buffer.from(JSON.stringify([purpose, keyId, organizationId.toLowerCase(), recordId.toLowerCase(), field]));
}
