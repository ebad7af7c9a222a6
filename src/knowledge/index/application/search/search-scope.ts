import type { UserContext } from '../../../../conversations/index.js';

/** Whose knowledge is searched, and for whom: documents with a scope show only where `userContext` holds all of it. */
export interface SearchScope {
  readonly organizationId: string;
  readonly agentId: string;
  readonly userContext: UserContext | null;
}
