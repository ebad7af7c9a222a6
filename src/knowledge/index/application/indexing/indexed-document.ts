import type { Transaction } from '../../../../platform/database/index.js';
import type { AgentKey, SourceKind, StoreUsage } from '../../domain/source-kind.js';

/** One page, drive file or upload of one agent's knowledge. */
export interface DocumentKey extends AgentKey {
  readonly kind: SourceKind;
  /** Unique in the agent's documents of the kind: a page's URL, a drive file's id in its source, an upload's id. */
  readonly key: string;
}

export interface IndexedSource extends DocumentKey {
  /** The document's id where it is new and has to have this one (an upload's); chosen otherwise. */
  readonly id?: string;
  /** Shown in results and citations. */
  readonly title: string;
  /** Where a person can look at it; null for uploads. */
  readonly url: string | null;
  /** Only runs whose `userContext` holds all of these find the document; null for all runs. */
  readonly scope: Readonly<Record<string, string | number | boolean>> | null;
}

export interface IndexedDocument extends StoreUsage {
  readonly documentId: string;
  /** The text was the same as before, and nothing was written for it. */
  readonly unchanged: boolean;
}

/** What is put with a document, in the transaction that stores it. */
export type WithDocument = (transaction: Transaction, document: IndexedDocument) => Promise<boolean>;

export interface PutOptions {
  /** Nothing of the document is in the index, as far as the source knows: it is looked for only where that proves wrong. */
  readonly isNew?: boolean;
  /** The source asks for vectors itself (`EmbeddingQueue`), once for many documents. */
  readonly withoutVectors?: boolean;
}
