import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OrganizationDirectory } from '../../access/index.js';
import type { RunContext } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { contextsOf } from '../domain/hook-call.js';
import { timeoutMsOf, type PlacedHandler } from '../domain/hooks-document.js';
import { hookInput } from '../domain/hook-input.js';
import type { SessionStartHook, SessionStartOutcome, ThreadSession } from '../domain/session-start.js';
import { SESSION_START_GRACE_MS, SESSION_START_POLL_MS, SESSIONS_CACHE_CHARACTERS } from '../limits.js';
import { type StoredSession, ThreadSessionRepository } from '../persistence/thread-session.repository.js';
import { CallSessionStartTool, sessionStartTimeoutOf } from './call-session-start-tool.js';
import { stepsOf } from './hook-steps.js';
import type { AgentHooks } from './hooks-of-agents.js';
import { inputBaseOf } from './input-base.js';
import { RunHandlers } from './run-handlers.js';

/** What there is to do at the start of a thread. */
interface Plan {
  readonly handlers: readonly PlacedHandler[];
  readonly hook: SessionStartHook | null;
  /** For all of it, side by side. */
  readonly allowedMs: number;
}

const NO_SESSION: ThreadSession = { additionalContext: [], hook: null };

/**
 * Sees to the start of a thread: once, by the first run that gets there. The start is claimed in the database before anybody
 * is asked, so that no other run, in whichever process, asks again, also where this one dies of it.
 */
@Injectable()
export class StartSession {
  /** Of threads whose start is over; it never changes any more. */
  private readonly known = new LRUCache<string, ThreadSession>({
    maxSize: SESSIONS_CACHE_CHARACTERS,
    sizeCalculation: (session) => 200 + JSON.stringify(session).length,
  });

  constructor(
    private readonly sessions: ThreadSessionRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly handlers: RunHandlers,
    private readonly tool: CallSessionStartTool,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** What the run's thread began with; it begins here where no run has replied yet. */
  async of(run: RunContext, hooks: AgentHooks): Promise<ThreadSession> {
    // Whoever never had hooks pays nothing for them.
    if (!hooks.isConfigured) return NO_SESSION;
    const known = this.known.get(run.threadId);
    if (known) return known;
    const plan = await this.planOf(run, hooks);
    // No earlier run can have begun anything.
    if (!plan && run.isFirstRun) return NO_SESSION;
    const session = await this.stored(run, hooks, plan);
    // Without a plan nobody has looked whether a run has replied: one may be made before the first reply.
    if (session || plan) this.known.set(run.threadId, session ?? NO_SESSION);
    return session ?? NO_SESSION;
  }

  /** @returns null where the thread has begun without anything, or not at all */
  private async stored(run: RunContext, hooks: AgentHooks, plan: Plan | null): Promise<ThreadSession | null> {
    const stored = plan ? await this.claim(run, plan) : await this.sessions.find(run);
    if (stored === null) return null;
    switch (stored.state) {
      case 'ended':
        return stored.session;
      case 'claimed':
        return this.begin(run, hooks, plan);
      case 'under_way':
        return this.await(run, hooks, stored.remainingMs);
      default:
        return stored satisfies never;
    }
  }

  /** Another run that has claimed it at the same moment shows only to a statement that begins later. */
  private async claim(run: RunContext, { allowedMs }: Plan): Promise<StoredSession | null> {
    return (await this.sessions.claim(run, allowedMs + SESSION_START_GRACE_MS)) ?? this.sessions.find(run);
  }

  private async planOf(run: RunContext, hooks: AgentHooks): Promise<Plan | null> {
    const input = hookInput(inputBaseOf(run), { event: 'SessionStart', source: 'startup' });
    const handlers = await this.handlers.matching(hooks, 'SessionStart', input);
    const hook = hooks.sessionStart && (await this.isPermitted(run)) ? hooks.sessionStart : null;
    if (handlers.length === 0 && hook === null) return null;
    const allowedMs = Math.max(hook ? sessionStartTimeoutOf(hook) : 0, ...handlers.map(timeoutMsOf));
    return { handlers, hook, allowedMs };
  }

  private async isPermitted({ organizationId }: RunContext): Promise<boolean> {
    const organization = await this.organizations.find(organizationId);
    return organization?.features.has('session_start_hook') ?? false;
  }

  /**
   * Goes on when the run ends meanwhile, within the time that each part has: what was asked once is not lost to the run
   * that comes next.
   */
  private async begin(run: RunContext, hooks: AgentHooks, plan: Plan | null): Promise<ThreadSession> {
    const signal = new AbortController().signal;
    const input = hookInput(inputBaseOf(run), { event: 'SessionStart', source: 'startup' });
    const [calls, outcome] = await Promise.all([
      this.handlers.execute(hooks, plan?.handlers ?? [], {
        event: 'SessionStart',
        input,
        userContext: run.userContext,
        signal,
      }),
      plan?.hook ? this.tool.execute(run, plan.hook, signal) : null,
    ]);
    run.steps.push(...stepsOf(calls));
    const session = { additionalContext: contextsOf(calls), hook: outcome };
    if (await this.sessions.end(run, session)) return session;
    return this.ended(run);
  }

  /** Another run is at it, which was cut short or whose process has died: what it is told is told to all. */
  private async await(run: RunContext, hooks: AgentHooks, remainingMs: number): Promise<ThreadSession> {
    let left = remainingMs;
    while (left > 0) {
      await this.clock.sleep(Math.min(left, SESSION_START_POLL_MS), run.signal);
      const stored = await this.sessions.find(run);
      if (stored?.state === 'ended') return stored.session;
      left = stored?.state === 'under_way' ? stored.remainingMs : 0;
    }
    this.logger.warn({ threadId: run.threadId }, 'The start of a thread was begun and never ended');
    const hook: SessionStartOutcome | null = hooks.sessionStart && degraded(this.clock.now());
    await this.sessions.giveUp(run, { additionalContext: [], hook });
    return this.ended(run);
  }

  private async ended(run: RunContext): Promise<ThreadSession> {
    const stored = await this.sessions.find(run);
    // A thread that was deleted meanwhile began with nothing.
    return stored?.state === 'ended' ? stored.session : NO_SESSION;
  }
}

export function degraded(at: Date): SessionStartOutcome {
  return { fetchedAt: at.toISOString(), status: 'degraded', contexts: [] };
}
