import { type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../platform/errors/index.js';
import {
  type CountedWindow,
  type FixedThrottler,
  LimitStorage,
  type MemoryWindows,
  RateLimitGuard,
  type RedisWindows,
} from '../../platform/limits/index.js';
import { requestDeclarationOf } from './access.decorator.js';
import { type Budget, LimitRefusals } from './limit-refusals.js';
import { accessOf, principalOf } from './request-access.js';

const WINDOW_SECONDS = 60;
/** Requests in a window. */
const LIMITS = {
  chat: 600,
  sessions: 600,
  sessionRefresh: 600,
  session: 60,
  traces: 30,
  traceExport: 20,
} as const satisfies Readonly<Record<Budget, number>>;
/** Each API server counts its own requests for traces. */
const PER_PROCESS = ['traces', 'traceExport'] as const satisfies Budget[];
/** Refusals by these budgets have no `code`, unlike all others. */
const WITHOUT_CODE: ReadonlySet<string> = new Set(PER_PROCESS);

/** The throttler's settings. Keys of counters are `<budget>:<owner>`. */
export function budgets(own: MemoryWindows, shared: RedisWindows | null): ThrottlerModuleOptions {
  const throttlers = Object.entries(LIMITS).map(([name, limit]): FixedThrottler => ({
    name,
    limit,
    ttl: WINDOW_SECONDS * 1000,
    skipIf: (context) => !isCountedAgainst(name as Budget, context.switchToHttp().getRequest<FastifyRequest>()),
  }));
  return { throttlers, storage: new LimitStorage(own, shared, new Set(PER_PROCESS)) };
}

/**
 * A request with a pass always counts against the budget of its session, and against the route's budget only when the route
 * accepts passes: a visitor must not use up the budget of the organization's own server.
 */
function isCountedAgainst(budget: Budget, request: FastifyRequest): boolean {
  const isPass = principalOf(request)?.kind === 'session_pass';
  if (budget === 'session') return isPass;
  const declaration = requestDeclarationOf(request);
  return declaration?.rateLimit === budget && (!isPass || declaration.sessionPass === true);
}

/** Counts a request against its budgets, before any other check. */
@Injectable()
export class BudgetGuard extends RateLimitGuard {
  @Inject() private readonly refusals!: LimitRefusals;

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await super.canActivate(context);
    } catch (error) {
      const reply = context.switchToHttp().getResponse<FastifyReply>();
      void reply.headers(await accessOf(context).headersOfRefusal());
      throw error;
    }
  }

  /**
   * The session, or the organization with or without the agent. Requests that name no agent of the organization share one
   * counter, so that invented ids neither avoid the limit nor fill the storage.
   */
  protected override async keyOf(throttler: string, context: ExecutionContext): Promise<string> {
    const access = accessOf(context);
    const { principal } = access;
    const budget = throttler as Budget;
    switch (budget) {
      case 'session':
        if (principal.kind !== 'session_pass') throw new Error('An API key has no session');
        return `${budget}:${principal.sessionId}`;
      case 'chat':
      case 'sessions': {
        // The request counts also when the lookup fails; `AccessGuard` reports the failure.
        const agentId =
          principal.kind === 'session_pass' ? principal.agentId : await access.agentId().catch(() => null);
        return `${budget}:${principal.organizationId}:${agentId ?? 'none'}`;
      }
      case 'sessionRefresh':
      case 'traces':
      case 'traceExport':
        return `${budget}:${principal.organizationId}`;
      default:
        return budget satisfies never;
    }
  }

  /** @returns DomainError `rate_limited` */
  protected override refusal({ throttler, limit, ttl, timeToBlockExpire }: CountedWindow): Error {
    this.refusals.count(throttler as Budget);
    return new DomainError('rate_limited', `The limit of ${limit} requests per ${ttl / 1000} seconds is reached.`, {
      ...(WITHOUT_CODE.has(throttler) ? {} : { code: 'rate_limited' }),
      retryAfterSeconds: timeToBlockExpire,
    });
  }
}
