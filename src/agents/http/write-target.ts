import { ApiHeader } from '@nestjs/swagger';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { changedByOf } from '../application/changed-by.js';
import type { WriteTarget } from '../application/versioned-write.js';
import { acceptableVersions } from './if-match.js';

/** Documents the header that a write of an agent, or of what belongs to it, may have. */
export function ApiIfMatchHeader(): MethodDecorator {
  return ApiHeader({
    name: 'If-Match',
    required: false,
    description: "The agent's ETag; a stale one answers 409 version_conflict.",
  });
}

/** The agent that a request writes to, on whose behalf, and for which versions. @param ifMatch the header */
export function writeTargetOf(caller: ApiKeyPrincipal, agentId: string, ifMatch: string | undefined): WriteTarget {
  const { organizationId } = caller;
  return { organizationId, agentId, changedBy: changedByOf(caller), ifMatch: acceptableVersions(ifMatch) };
}
