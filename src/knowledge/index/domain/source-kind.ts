/** Whose knowledge it is. */
export interface AgentKey {
  readonly organizationId: string;
  readonly agentId: string;
}

/** Where a document of an agent's knowledge comes from, and how a model reads it of a document without an address. */
export const SOURCES = {
  website: 'a page of a website',
  drive: 'a file of a cloud drive',
  upload: 'an uploaded file',
} as const;
export type SourceKind = keyof typeof SOURCES;
export const SOURCE_KINDS = Object.keys(SOURCES) as readonly SourceKind[];

/** What a source, or a part of it, takes up in the store. */
export interface StoreUsage {
  readonly chunks: number;
  /** Of the chunks' text, in UTF-8. */
  readonly bytes: number;
}
