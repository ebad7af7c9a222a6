import type { Transaction } from '../../../../platform/database/index.js';
import type { AgentKey, DocumentScope, SourceKind, StoreUsage } from '../../domain/source-kind.js';

/** One page, drive file or upload of one agent's knowledge. */
export interface DocumentKey extends AgentKey {
  readonly kind: SourceKind;
  /** Unique among the agent's documents of this kind: a page's URL, a drive file's id in its source, an upload's id. */
  readonly key: string;
}

export interface IndexedSource extends DocumentKey {
  /** The id that the document gets if it is new (an upload's id); a new one if undefined. */
  readonly id?: string;
  /** Shown in results and citations. */
  readonly title: string;
  /** The address at which a person can read it; null for uploads. */
  readonly url: string | null;
  readonly scope: DocumentScope;
}

export interface IndexedDocument extends StoreUsage {
  readonly documentId: string;
  /** The text was the same as before, so nothing was written. */
  readonly isUnchanged: boolean;
}

/** Runs in the transaction that stores a document. @returns false to refuse the document */
export type AcceptDocument = (transaction: Transaction, document: IndexedDocument) => Promise<boolean>;

export interface PutOptions {
  /** The source believes that the index does not have the document, so it is not read first. If it does exist, the write is repeated. */
  readonly isNew?: boolean;
  /** The source enqueues the job for vectors itself, once for many documents (`EmbeddingQueue`). */
  readonly withoutVectors?: boolean;
}
