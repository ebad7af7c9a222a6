import { MAX_JSON_DEPTH } from '../../platform/json/index.js';
import type { JsonObject } from './model-runtime.js';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether objects and arrays are nested more levels deep than code that recurses can read, and the database can store. */
export function isNestedTooDeeply(value: unknown, levels = MAX_JSON_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isNestedTooDeeply(inner, levels - 1));
}
