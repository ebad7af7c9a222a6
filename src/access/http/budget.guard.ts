import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { ThrottlerModuleOptions, ThrottlerOptions } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import { LimitStorage, type MemoryWindows, RateLimitGuard, type RedisWindows } from '../../platform/limits/index.js';
import { ResourceLookups } from '../application/resource-lookup.js';
import { type AccessDeclaration, accessDeclarationOf } from './access.decorator.js';
import { LimitRefusals } from './limit-refusals.js';
import { RequestedResources } from './requested-resources.js';

type Budget = NonNullable<AccessDeclaration['rateLimit']>;

const BUDGETS = [budget('chat', 600, 60), budget('traces', 30, 60), budget('traceExport', 20, 60)];
/** Each API server counts its own requests for traces. */
const PER_PROCESS = new Set<string>(['traces', 'traceExport'] satisfies Budget[]);

function budget(name: Budget, limit: number, windowSeconds: number): ThrottlerOptions {
  return {
    name,
    limit,
    ttl: windowSeconds * 1000,
    skipIf: (context) => accessDeclarationOf(context.getHandler())?.rateLimit !== name,
  };
}

/** The throttler's settings: the budgets that routes declare, counted by `<budget>:<who is counted>`. */
export function budgets(own: MemoryWindows, shared: RedisWindows | null): ThrottlerModuleOptions {
  return {
    throttlers: BUDGETS,
    storage: new LimitStorage(own, shared, PER_PROCESS),
    generateKey: (_context, tracker, name) => `${name}:${tracker}`,
  };
}

/** Counts a request against the budget that its route declares, before anything else is decided about it. */
@Injectable()
export class BudgetGuard extends RateLimitGuard {
  @Inject() private readonly lookups!: ResourceLookups;
  @Inject() private readonly refusals!: LimitRefusals;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await super.canActivate(context);
    } catch (error) {
      const http = context.switchToHttp();
      const resources = RequestedResources.of(http.getRequest<FastifyRequest>(), this.lookups);
      void http.getResponse<FastifyReply>().headers(await resources.headersOfRefusal());
      throw error;
    }
  }

  /**
   * The organization, and for chat the agent. Requests that name no agent of the organization share one budget, so
   * that inventing ids neither escapes the limit nor fills the counters.
   */
  protected override async getTracker(request: FastifyRequest): Promise<string> {
    const resources = RequestedResources.of(request, this.lookups);
    if (resources.declaration.rateLimit !== 'chat') return resources.organizationId;
    return `${resources.organizationId}:${(await resources.agentId()) ?? 'none'}`;
  }

  /** @throws DomainError `rate_limited`; that of the traces has no code, unlike every other such answer */
  protected override throwThrottlingException(
    context: ExecutionContext,
    { limit, ttl, timeToBlockExpire }: { readonly limit: number; readonly ttl: number; readonly timeToBlockExpire: number },
  ): Promise<void> {
    const budget = accessDeclarationOf(context.getHandler())?.rateLimit;
    if (budget) this.refusals.count(budget);
    const isChat = budget === 'chat';
    throw new DomainError('rate_limited', `The limit of ${limit} requests per ${ttl / 1000} seconds is reached.`, {
      ...(isChat ? { code: 'rate_limited' } : {}),
      retryAfterSeconds: timeToBlockExpire,
    });
  }
}
