/** Whose knowledge it is. */
export interface AgentKey {
  readonly organizationId: string;
  readonly agentId: string;
}

/** Where a document of an agent's knowledge comes from. */
export const SOURCE_KINDS = ['website', 'drive', 'upload'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What a source, or a part of it, takes up in the store. */
export interface StoreUsage {
  readonly chunks: number;
  /** Of the chunks' text, in UTF-8. */
  readonly bytes: number;
}
