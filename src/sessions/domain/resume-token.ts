import { createHash } from 'node:crypto';
import { secureRandomBytes } from '../../platform/ids/index.js';

const PREFIX = 'rt_';
const RANDOM_BYTES = 32;
const FORM = /^rt_[\w-]{43}$/;

/** 256 random bits, which say nothing about the session. */
export function newResumeToken(): string {
  return `${PREFIX}${secureRandomBytes(RANDOM_BYTES).toString('base64url')}`;
}

export function isResumeToken(text: string): boolean {
  return FORM.test(text);
}

/** The stored form. A fast digest is enough for 256 random bits. */
export function digestResumeToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
