import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../access/index.js';
import { ApiAnswerHeader, ApiUuidParam, documentOperation } from '../../platform/http/index.js';
import type { WriteTarget } from '../application/versioned-write.js';
import { changedByKey } from '../domain/agent-version.js';

const IF_MATCH = "The agent's ETag; a stale one answers 409 version_conflict.";

/**
 * Handler parameter of a write of an agent or of a part of it: the agent that the access guard found for the path, and the
 * versions that `If-Match` accepts. Documents `{agentId}` and `If-Match`.
 */
export const AgentWriteTarget = createParamDecorator(
  (_data: unknown, context: ExecutionContext): WriteTarget => {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { agentId: string } }>>();
    const caller = principalOf(request);
    if (caller?.kind !== 'api_key') throw new Error('A route that writes an agent must accept API keys only');
    const { organizationId } = caller;
    const agentId = request.params.agentId.toLowerCase();
    const ifMatch = acceptableVersions(request.headers['if-match']);
    return { organizationId, agentId, changedBy: changedByKey(caller), ifMatch };
  },
  [documentOperation(ApiHeader({ name: 'If-Match', required: false, description: IF_MATCH }), ApiUuidParam('agentId'))],
);

/**
 * The versions that an `If-Match` header accepts: `"3"`, `W/"3"`, a list of those.
 * @returns undefined, which accepts any version, for `*` and for no header. A tag that is not a version accepts none.
 */
function acceptableVersions(header: string | undefined): number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  return header
    .split(',')
    .map((tag) => /^(?:W\/)?"(\d{1,10})"$/.exec(tag.trim())?.[1])
    .filter((version) => version !== undefined)
    .map(Number);
}

export function etagOf(version: number): string {
  return `"${version}"`;
}

/** Documents the response header with the agent's version. */
export const ApiVersionHeader = (): MethodDecorator =>
  ApiAnswerHeader({
    name: 'ETag',
    description: "The agent's version, for `If-Match`.",
    schema: { type: 'string', examples: ['"3"'] },
    onSuccessOnly: true,
  });
