import type { PreparedChunk } from '../application/indexing/prepared-document.js';

/** A document as it is stored. */
export interface DocumentRow {
  readonly id: string;
  /** In hex. */
  readonly digest: string;
  readonly revision: number;
  readonly writer: string | null;
}

/** The revision of a document whose chunks are being removed: none of them is seen in it. */
export const REMOVED = -1;

/** A chunk as it is stored. */
export interface ChunkRow {
  readonly id: string;
  /** In hex. */
  readonly digest: string;
  readonly position: number;
  readonly anchor: string | null;
  readonly page: number | null;
  readonly validFrom: number;
  readonly validUntil: number;
  /** Keywords find it in the scope that the document shall have. */
  readonly isPlaced: boolean;
}

export const VALID_FOR_GOOD = 2_147_483_647;

export type ChangedChunk = Pick<ChunkRow, 'id' | 'position' | 'anchor' | 'page'>;

/** What turns the stored chunks of a document into those that it shall have. */
export interface WritePlan {
  readonly inserted: readonly PreparedChunk[];
  /** Stay, with another position, anchor or page, or in spite of a write that was given up. */
  readonly changed: readonly ChangedChunk[];
  /** Are seen until the document has its next revision. */
  readonly dropped: readonly string[];
  /** Left by a write that ended early, and not seen: must be gone before the next revision, which would show them. */
  readonly abandoned: readonly string[];
}

/** Chunks that say the same stay as they are, wherever in the document; those of another scope are written anew. */
export function planWrites(stored: readonly ChunkRow[], wanted: readonly PreparedChunk[], revision: number): WritePlan {
  const byDigest = new Map<string, ChunkRow[]>();
  // Those that can be seen first: they have their vectors.
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
    if (row.position !== position || row.anchor !== anchor || row.page !== page || row.validUntil !== VALID_FOR_GOOD)
      changed.push({ id: row.id, position, anchor, page });
  }
  const left = stored.filter(({ id }) => !kept.has(id));
  const isSeen = ({ validFrom, validUntil }: ChunkRow): boolean => validFrom <= revision && revision < validUntil;
  const idsOf = (rows: readonly ChunkRow[]): string[] => rows.map(({ id }) => id);
  return {
    inserted,
    changed,
    dropped: idsOf(left.filter(isSeen)),
    abandoned: idsOf(left.filter((row) => !isSeen(row))),
  };
}
