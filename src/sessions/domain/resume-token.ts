import { createHash } from 'node:crypto';
import { secureRandomBytes } from '../../platform/ids/index.js';

const PREFIX = 'rt_';
const RANDOM_BYTES = 32;
const FORM = /^rt_[\w-]{43}$/;

/** 256 random bits: nothing about the session can be read in it. */
export function newResumeToken(): string {
  return `${PREFIX}${secureRandomBytes(RANDOM_BYTES).toString('base64url')}`;
}

export function isResumeToken(text: string): boolean {
  return FORM.test(text);
}

/** What is stored of it. Of 256 random bits a fast digest is enough. */
export function digestResumeToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
