import type { ApiKeyPrincipal } from '../../access/index.js';
import type { ChangedBy } from '../domain/agent-version.js';

/** The caller as versions name it. */
export function changedByOf({ keyId, memberId }: ApiKeyPrincipal): ChangedBy {
  return { type: 'api_key', keyId, memberId };
}
