/** A run sees the document only if its `userContext` has all these entries. `1` does not match `"1"`. */
export type DocumentScope = Readonly<Record<string, string | number | boolean>>;

export type UploadStatus = 'processing' | 'ready' | 'failed';

/** A file that was uploaded as knowledge of an agent. */
export interface Upload {
  readonly id: string;
  readonly organizationId: string;
  readonly agentId: string;
  readonly name: string;
  /** Without parameters. */
  readonly contentType: string;
  /** The size of the file in bytes. */
  readonly size: number;
  readonly scope: DocumentScope | null;
  readonly status: UploadStatus;
  /** Why it failed, in words for the customer. */
  readonly error: string | null;
  readonly chunks: number;
  /** The size of the chunks' text in UTF-8. */
  readonly bytes: number;
  readonly createdAt: Date;
}

/** Where the content of an upload is in the file store. */
export function uploadKey({ organizationId, id }: Pick<Upload, 'organizationId' | 'id'>): string {
  return `knowledge/${organizationId}/${id}`;
}
