import type { UserContext } from '../../../../conversations/index.js';
import type { AgentKey } from '../../domain/source-kind.js';

/** The agent whose knowledge is searched, and the user. Documents with a scope are found only if `userContext` has all its entries. */
export interface SearchScope extends AgentKey {
  readonly userContext: UserContext | null;
}
