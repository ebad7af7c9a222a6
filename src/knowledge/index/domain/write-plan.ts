import type { PreparedChunk } from '../application/indexing/prepared-document.js';

export interface DocumentId {
  readonly organizationId: string;
  readonly id: string;
}

/** A document as it is stored. */
export interface DocumentRow extends DocumentId {
  /** Hexadecimal. */
  readonly digest: string;
  readonly revision: number;
  readonly writer: string | null;
}

/** The revision of a document whose chunks are being removed: no search finds them. */
export const REMOVED = -1;

/** A chunk as it is stored. */
export interface ChunkRow {
  readonly id: string;
  /** Hexadecimal. */
  readonly digest: string;
  readonly position: number;
  readonly anchor: string | null;
  readonly page: number | null;
  readonly validFrom: number;
  readonly validUntil: number;
  /** It has postings in the partition of the scope that the document is to have. */
  readonly isPlaced: boolean;
}

/** `validUntil` of a chunk that no revision has dropped. */
export const NEVER_DROPPED = 2_147_483_647;

export type ChangedChunk = Pick<ChunkRow, 'id' | 'position' | 'anchor' | 'page'>;

/** The writes that turn the stored chunks of a document into the wanted ones. */
export interface WritePlan {
  readonly inserted: readonly PreparedChunk[];
  /** They are kept with another position, anchor or page, or although an interrupted write had dropped them. */
  readonly changed: readonly ChangedChunk[];
  /** Searches find them until the document has its next revision. */
  readonly dropped: readonly string[];
  /** An interrupted write left them. They must be deleted before the next revision, which would show them. */
  readonly abandoned: readonly string[];
}

/** Keeps chunks with the same text wherever in the document they are; chunks of another scope are written again. */
export function planWrites(stored: readonly ChunkRow[], wanted: readonly PreparedChunk[], revision: number): WritePlan {
  const byDigest = new Map<string, ChunkRow[]>();
  // `pop` takes visible chunks first, because they have their vectors.
  const inOrder = [...stored].sort((left, right) => right.validFrom - left.validFrom || right.position - left.position);
  for (const row of inOrder)
    if (row.isPlaced && row.validUntil > revision) byDigest.set(row.digest, [...(byDigest.get(row.digest) ?? []), row]);
  const inserted: PreparedChunk[] = [];
  const changed: ChangedChunk[] = [];
  const kept = new Set<string>();
  for (const chunk of wanted) {
    const row = byDigest.get(chunk.digest)?.pop();
    if (!row) {
      inserted.push(chunk);
      continue;
    }
    kept.add(row.id);
    const { position, anchor, page } = chunk;
    if (row.position !== position || row.anchor !== anchor || row.page !== page || row.validUntil !== NEVER_DROPPED)
      changed.push({ id: row.id, position, anchor, page });
  }
  const plan = { inserted, changed, dropped: [] as string[], abandoned: [] as string[] };
  for (const { id, validFrom, validUntil } of stored) {
    const isVisible = validFrom <= revision && revision < validUntil;
    if (!kept.has(id)) plan[isVisible ? 'dropped' : 'abandoned'].push(id);
  }
  return plan;
}
