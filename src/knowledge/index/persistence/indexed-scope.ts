import { createHash } from 'node:crypto';
import { storableJson } from '../../../platform/database/index.js';

/** Which runs see a document, as it is stored: `{}` for all runs. */
export interface IndexedScope {
  readonly json: string;
  /** In hex; the same for the same entries in any order. */
  readonly digest: string;
}

export function indexedScopeOf(scope: Readonly<Record<string, string | number | boolean>> | null): IndexedScope {
  const entries = Object.entries(scope ?? {}).sort(([left], [right]) => (left < right ? -1 : 1));
  return {
    json: storableJson(Object.fromEntries(entries)),
    digest: createHash('sha256').update(JSON.stringify(entries)).digest('hex'),
  };
}
