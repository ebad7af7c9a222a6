import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { OrganizationDirectory, principalOf } from '../../access/index.js';
import { ForbiddenTraceAccess } from '../domain/observability.errors.js';

/**
 * Refuses to read traces of an organization with HIPAA data handling. It runs after the global guard, so that an agent that the caller
 * must not see is a 404, and before the query is validated.
 */
@Injectable()
export class TraceAccessGuard implements CanActivate {
  constructor(private readonly organizations: OrganizationDirectory) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = principalOf(context.switchToHttp().getRequest<object>());
    if (!principal) throw new Error('A public route must not read traces');
    const organization = await this.organizations.find(principal.organizationId);
    // An organization without settings may handle HIPAA data.
    if (!organization || organization.features.has('hipaa')) throw new ForbiddenTraceAccess();
    return true;
  }
}
