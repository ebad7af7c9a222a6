/** An agent, whose knowledge it is. */
export interface AgentKey {
  readonly organizationId: string;
  readonly agentId: string;
}

/** The sources of documents, with the words for a document without an address in what a model reads. */
export const SOURCES = {
  website: 'a page of a website',
  drive: 'a file of a cloud drive',
  upload: 'an uploaded file',
} as const;
export type SourceKind = keyof typeof SOURCES;
export const SOURCE_KINDS = Object.keys(SOURCES) as readonly SourceKind[];

/** Only runs whose `userContext` has all these entries find the document; null: all runs find it. */
export type DocumentScope = Readonly<Record<string, string | number | boolean>> | null;

/** How much of the index a source, or a part of it, uses. */
export interface StoreUsage {
  readonly chunks: number;
  /** Of the chunks' text, in UTF-8. */
  readonly bytes: number;
}
