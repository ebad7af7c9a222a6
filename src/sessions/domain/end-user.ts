import { createHmac, timingSafeEqual } from 'node:crypto';
import { secureRandomBytes } from '../../platform/ids/index.js';

const SALT_BYTES = 16;

/** What is kept of an `endUser`: enough to know it again, and nothing to read. */
export interface EndUserDigest {
  readonly salt: string;
  readonly digest: string;
}

export function digestEndUser(endUser: string): EndUserDigest {
  const salt = secureRandomBytes(SALT_BYTES).toString('base64url');
  return { salt, digest: digestWith(salt, endUser) };
}

/** Whether it is, byte for byte, the one that was digested; a session without one is known by sending none. */
export function isSameEndUser(stored: EndUserDigest | null, endUser: string | undefined): boolean {
  if (!stored || endUser === undefined) return !stored && endUser === undefined;
  return timingSafeEqual(Buffer.from(stored.digest), Buffer.from(digestWith(stored.salt, endUser)));
}

/** Over the units of the string as it came: two texts that only look or normalize alike are two users. */
function digestWith(salt: string, endUser: string): string {
  return createHmac('sha256', Buffer.from(salt, 'base64url')).update(Buffer.from(endUser, 'utf16le')).digest('base64url');
}

/** No name of a user that stays the same, and personal data besides. */
export function looksLikeEmail(text: string): boolean {
  const at = text.indexOf('@');
  return at > 0 && at === text.lastIndexOf('@') && /^[^\s@]+\.[^\s@.]+$/.test(text.slice(at + 1)) && !/\s/.test(text);
}
