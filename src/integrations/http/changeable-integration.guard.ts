import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../access/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { RequireChangeable } from '../application/require-changeable.js';

interface Parameters {
  readonly agentId: string;
  readonly integrationId: string;
}

/**
 * Whether the caller may change the integration that the path names, before its body is looked at: whoever may not is
 * told nothing about what would be accepted. The use case decides again when it holds the integration.
 */
@Injectable()
export class ChangeableIntegrationGuard implements CanActivate {
  constructor(private readonly requireChangeable: RequireChangeable) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = principalOf(request);
    const { agentId, integrationId } = request.params as Parameters;
    // What is no id is the parameter's own to refuse.
    if (caller?.kind === 'api_key' && isUuid(integrationId)) {
      await this.requireChangeable.execute(caller, agentId.toLowerCase(), integrationId.toLowerCase());
    }
    return true;
  }
}
