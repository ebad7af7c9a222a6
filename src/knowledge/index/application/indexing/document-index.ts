import type { Transaction } from '../../../../platform/database/index.js';
import type { ParsedDocument } from '../../../parsing/domain/parsed-document.js';
import type { SourceKind, StoreUsage } from '../../domain/source-kind.js';

/** One page, drive file or upload of one agent's knowledge. */
export interface DocumentKey {
  readonly organizationId: string;
  readonly agentId: string;
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

/** The chunks of all documents. Their vectors follow in the background; keywords find them with the commit. */
export abstract class DocumentIndex {
  /**
   * Puts a document in place of what was there under its key: chunks that stay the same stay, with their vectors.
   * @param accept called in the transaction, for the source to check that the document is still wanted and to note what
   * became of it; where it answers false nothing is stored
   * @returns null when it was not accepted
   */
  abstract put(source: IndexedSource, parsed: ParsedDocument, accept?: WithDocument, options?: PutOptions): Promise<IndexedDocument | null>;

  /** Removes documents with chunks and vectors, in short transactions. Unknown ids, and those of other organizations, are left out. */
  abstract remove(organizationId: string, documentIds: readonly string[], signal?: AbortSignal): Promise<void>;

  /** Ids of the agent's documents of a kind, at most `limit`, in no order. */
  abstract documentsOf(organizationId: string, agentId: string, kind: SourceKind, limit: number): Promise<string[]>;

  /** What all documents of a kind take up. */
  abstract usageOf(organizationId: string, agentId: string, kind: SourceKind): Promise<StoreUsage>;

  /** What each of the documents takes up; those that are not there are left out. */
  abstract usageOfEach(organizationId: string, documentIds: readonly string[]): Promise<ReadonlyMap<string, StoreUsage>>;

  /** Whether the agent has any chunk. From memory for at most 5 s. */
  abstract hasChunks(organizationId: string, agentId: string): Promise<boolean>;
}
