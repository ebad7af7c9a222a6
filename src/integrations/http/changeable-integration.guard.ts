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
 * Checks whether the caller may change the integration before the body is validated, so that a caller without access learns nothing
 * from validation errors. The use case checks again when it has locked the integration.
 */
@Injectable()
export class ChangeableIntegrationGuard implements CanActivate {
  constructor(private readonly requireChangeable: RequireChangeable) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = principalOf(request);
    const { agentId, integrationId } = request.params as Parameters;
    // The parameter validation refuses an invalid id.
    if (caller?.kind === 'api_key' && isUuid(integrationId)) {
      await this.requireChangeable.execute(caller, agentId.toLowerCase(), integrationId.toLowerCase());
    }
    return true;
  }
}
