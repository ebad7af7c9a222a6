import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const PREFIX = 'ak_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = BigInt(ALPHABET.length);
/** Enough digits for 256 bits: 62^43 > 2^256. */
const SECRET_LENGTH = 43;
/** Enough digits for 32 bits: 62^6 > 2^32. */
const CHECKSUM_LENGTH = 6;
const SHAPE = new RegExp(`^${PREFIX}([0-9A-Za-z]{${SECRET_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** Random bytes of one key. */
export const API_KEY_BYTES = 32;

/**
 * The text of a key: `ak_`, the random bytes as one big-endian base62 number of 43 digits, and the CRC-32 of those digits as a
 * base62 number of 6. The checksum detects mistyped or truncated keys without a database lookup, and lets secret scanners
 * recognize keys. It is no protection against invented keys.
 * @param bytes 32 random bytes
 */
export function formatApiKey(bytes: Uint8Array): string {
  if (bytes.length !== API_KEY_BYTES) throw new RangeError(`An API key is made of ${API_KEY_BYTES} bytes`);
  const secret = base62(BigInt(`0x${Buffer.from(bytes).toString('hex')}`), SECRET_LENGTH);
  return `${PREFIX}${secret}${checksum(secret)}`;
}

export function isWellFormedApiKey(text: string): boolean {
  const match = SHAPE.exec(text);
  return match?.[1] !== undefined && checksum(match[1]) === match[2];
}

/** Stored instead of the key. A fast digest is safe, because the key has 256 random bits. */
export function digestApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Shown so that people can tell keys apart. */
export function lastFour(key: string): string {
  return key.slice(-4);
}

function checksum(secret: string): string {
  return base62(BigInt(crc32(secret)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest /= BASE) digits = ALPHABET.charAt(Number(rest % BASE)) + digits;
  return digits;
}
