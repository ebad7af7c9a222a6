import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM. @returns ciphertext and tag, in this order */
export function encrypt(key: Buffer, nonce: Buffer, plaintext: Buffer, context: Buffer): Buffer {
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(context);
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** @throws Error if the key, the nonce, the context or one byte differs from the encrypted one */
export function decrypt(key: Buffer, nonce: Buffer, ciphertext: Buffer, context: Buffer): Buffer {
  if (nonce.length !== NONCE_BYTES || ciphertext.length < TAG_BYTES) throw new Error('The ciphertext is incomplete');
  const body = ciphertext.subarray(0, -TAG_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(context);
  decipher.setAuthTag(ciphertext.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

/** `encrypt` with a new nonce, which precedes the result. */
export function seal(key: Buffer, plaintext: Buffer, context: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  return Buffer.concat([nonce, encrypt(key, nonce, plaintext, context)]);
}

export function open(key: Buffer, box: Buffer, context: Buffer): Buffer {
  return decrypt(key, box.subarray(0, NONCE_BYTES), box.subarray(NONCE_BYTES), context);
}
