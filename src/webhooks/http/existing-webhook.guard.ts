import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../../access/index.js';
import { isUuid } from '../../platform/ids/index.js';
import { ReadWebhooks } from '../application/read-webhooks.js';

/** Answers 404 before the body is validated, as for every absent resource. The use case looks again in its transaction. */
@Injectable()
export class ExistingWebhookGuard implements CanActivate {
  constructor(private readonly webhooks: ReadWebhooks) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const caller = principalOf(request);
    const { id } = request.params as { readonly id: string };
    // The parameter validation refuses an invalid id.
    if (caller && isUuid(id)) await this.webhooks.find(caller.organizationId, id.toLowerCase());
    return true;
  }
}
