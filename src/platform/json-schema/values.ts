import type { Check } from './check.js';
import { SHOWN_VALUE } from './limits.js';

export type JsonValues = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonValues {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Equal texts for equal JSON values, whatever the order of their fields. @param check pays for the size */
export function canonical(value: unknown, check?: Check): string {
  if (typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value);
    check?.spend(2 + text.length / CHARACTERS_A_STEP);
    return text;
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, check)).join()}]`;
  const names = Object.keys(value).sort();
  check?.spend(4 * names.length);
  const fields = names.map((name) => {
    check?.spend(name.length / CHARACTERS_A_STEP);
    return `${JSON.stringify(name)}:${canonical((value as JsonValues)[name], check)}`;
  });
  return `{${fields.join()}}`;
}

/** In code points, as JSON Schema counts. */
export function lengthOf(text: string, check: Check): number {
  check.spend(text.length / CHARACTERS_A_STEP);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isFirstHalf = code >= 0xd800 && code <= 0xdbff && at + 1 < text.length;
    if (isFirstHalf) at += 1;
    length += 1;
  }
  return length;
}

export function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_VALUE ? `${text.slice(0, SHOWN_VALUE)}...` : text;
}

/** What takes about as long as one assertion. */
export const CHARACTERS_A_STEP = 16;
