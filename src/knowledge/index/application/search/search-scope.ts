import type { UserContext } from '../../../../conversations/index.js';
import type { AgentKey } from '../../domain/source-kind.js';

/** Whose knowledge is searched, and for whom: documents with a scope show only where `userContext` holds all of it. */
export interface SearchScope extends AgentKey {
  readonly userContext: UserContext | null;
}
