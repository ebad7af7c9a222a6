import { createHash } from 'node:crypto';
import { storableJson } from '../../../platform/database/index.js';

/** Which runs see a document, in the form in which a partition stores it. */
export interface IndexedScope {
  /** `{}` if all runs see it. */
  readonly json: string;
  /** Hexadecimal; the same for the same entries in any order. */
  readonly digest: string;
}

export function indexedScope(scope: Readonly<Record<string, string | number | boolean>> | null): IndexedScope {
  const entries = Object.entries(scope ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return {
    json: storableJson(Object.fromEntries(entries)),
    digest: createHash('sha256').update(JSON.stringify(entries)).digest('hex'),
  };
}
