import { ValidationFailed } from '../../../platform/errors/index.js';
import { MAX_SCOPE_BYTES, MAX_SCOPE_ENTRIES, MAX_SCOPE_KEY_LENGTH, MAX_SCOPE_VALUE_LENGTH } from '../limits.js';
import type { DocumentScope } from './upload.js';

/**
 * The scope that a form field spells as JSON; null for an object without entries, which every run would hold.
 * @throws ValidationFailed
 */
export function scopeOf(text: string): DocumentScope | null {
  const entries = Object.entries(objectIn(text));
  if (Buffer.byteLength(JSON.stringify(Object.fromEntries(entries))) > MAX_SCOPE_BYTES)
    throw refused(`must have at most ${MAX_SCOPE_BYTES} bytes`);
  if (entries.length > MAX_SCOPE_ENTRIES) throw refused(`must have at most ${MAX_SCOPE_ENTRIES} entries`);
  for (const [key, value] of entries) {
    if (!isShort(key, MAX_SCOPE_KEY_LENGTH) || key === '') {
      throw refused(
        `must have keys of 1 to ${MAX_SCOPE_KEY_LENGTH} characters, without U+0000 and halves of characters`,
      );
    }
    if (!isScalar(value)) {
      throw refused(
        `/${key} must be a string of at most ${MAX_SCOPE_VALUE_LENGTH} characters without U+0000 and halves of characters, a number within 2^53 or a boolean`,
      );
    }
  }
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function objectIn(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // As anything else that is no object.
  }
  throw refused('must be a JSON object of strings, numbers and booleans');
}

/** `1e999` is a number of JSON that is none here; beyond 2^53 numbers are rounded, so that one would be taken for its neighbours. */
function isScalar(value: unknown): boolean {
  return (
    typeof value === 'boolean' ||
    (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) ||
    (typeof value === 'string' && isShort(value, MAX_SCOPE_VALUE_LENGTH))
  );
}

function isShort(text: string, max: number): boolean {
  return text.length <= 2 * max && [...text].length <= max && text.isWellFormed() && !text.includes('\u0000');
}

/** `text` reads on from the field's path. */
function refused(text: string): ValidationFailed {
  return new ValidationFailed(`body/scope${text.startsWith('/') ? '' : ' '}${text}`);
}
