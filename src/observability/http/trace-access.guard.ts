import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { OrganizationDirectory, principalOf } from '../../access/index.js';
import { ForbiddenTraceAccess } from '../domain/observability.errors.js';

/**
 * Refuses trace reads where an organization's agents handle HIPAA data. Runs after the global guard, so
 * that an agent the caller cannot see is absent here too, and before the query is read.
 */
@Injectable()
export class TraceAccessGuard implements CanActivate {
  constructor(private readonly organizations: OrganizationDirectory) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const principal = principalOf(context.switchToHttp().getRequest<object>());
    if (!principal) throw new Error('A public route reads traces');
    const organization = await this.organizations.find(principal.organizationId);
    // Without the organization's settings its data handling is unknown, so its traces stay closed.
    if (!organization || organization.features.has('hipaa')) throw new ForbiddenTraceAccess();
    return true;
  }
}
