/** An uploaded file. */
export interface StoredUpload {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
}

/** Where the content of an upload is in the file store. */
export function storageKey({ organizationId, id }: Pick<StoredUpload, 'organizationId' | 'id'>): string {
  return `uploads/${organizationId}/${id}`;
}
