import { ApiHeader } from '@nestjs/swagger';
import type { ApiKeyPrincipal } from '../../access/index.js';
import type { WriteTarget } from '../application/versioned-write.js';
import { changedByKey } from '../domain/agent-version.js';
import { acceptableVersions } from './if-match.js';

/** Documents the request header of writes of an agent and of its parts. */
export function ApiIfMatchHeader(): MethodDecorator {
  return ApiHeader({
    name: 'If-Match',
    required: false,
    description: "The agent's ETag; a stale one answers 409 version_conflict.",
  });
}

/** @param ifMatch the header's value */
export function writeTargetOf(caller: ApiKeyPrincipal, agentId: string, ifMatch: string | undefined): WriteTarget {
  const { organizationId } = caller;
  return { organizationId, agentId, changedBy: changedByKey(caller), ifMatch: acceptableVersions(ifMatch) };
}
