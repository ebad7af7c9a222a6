import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OrganizationDirectory } from '../../access/index.js';
import type { RunContext } from '../../conversations/index.js';
import { Clock } from '../../platform/clock/index.js';
import { AttachedValue } from '../../platform/heap/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { contextsIn, hookSteps } from '../domain/hook-call.js';
import { hookInput } from '../domain/hook-event.js';
import { timeoutMsOf, type PlacedHandler } from '../domain/hooks-document.js';
import type { SessionStartHook, SessionStartOutcome, ThreadSession } from '../domain/session-start.js';
import { SESSION_START_GRACE_MS, SESSION_START_POLL_MS, SESSIONS_CACHE_CHARACTERS } from '../limits.js';
import { type StoredSession, ThreadSessionRepository } from '../persistence/thread-session.repository.js';
import { CallSessionStartTool, sessionStartTimeoutMs } from './call-session-start-tool.js';
import type { AgentHooks } from './hooks-of-agents.js';
import { inputBase, RunHandlers } from './run-handlers.js';

interface Plan {
  readonly handlers: readonly PlacedHandler[];
  readonly hook: SessionStartHook | null;
  /** The time that all of them together may take, in parallel. */
  readonly allowedMs: number;
}

const NO_SESSION: ThreadSession = { additionalContext: [], hook: null };

/**
 * Calls the session-start hooks of a thread once, in its first run. The run claims the start in the database before it calls a
 * hook, so no run of any process calls them again, also when this process dies.
 */
@Injectable()
export class StartSession {
  /** Sessions of threads whose start has ended; those never change. */
  private readonly known = new LRUCache<string, ThreadSession>({
    maxSize: SESSIONS_CACHE_CHARACTERS,
    sizeCalculation: (session) => 200 + JSON.stringify(session).length,
  });

  /** What the hooks of a run's thread answered: stored again after an outage of the database, without another call. */
  private readonly begun = new AttachedValue<RunContext, Promise<ThreadSession>>();

  constructor(
    private readonly sessions: ThreadSessionRepository,
    private readonly organizations: OrganizationDirectory,
    private readonly handlers: RunHandlers,
    private readonly tool: CallSessionStartTool,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** The session of the run's thread, which starts now if no run has replied yet. */
  async of(run: RunContext, hooks: AgentHooks): Promise<ThreadSession> {
    // An agent without hooks costs no statement.
    if (!hooks.isConfigured) return NO_SESSION;
    const known = this.known.get(run.threadId);
    if (known) return known;
    const plan = await this.planOf(run, hooks);
    if (!plan && run.isFirstRun) return NO_SESSION;
    const session = await this.stored(run, hooks, plan);
    // Without a plan and a session nothing is remembered: a hook may be added before the first reply.
    if (session || plan) this.known.set(run.threadId, session ?? NO_SESSION);
    return session ?? NO_SESSION;
  }

  /** @returns null when the thread has no session */
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

  /** The second statement sees a claim that another run committed while the first one ran. */
  private async claim(run: RunContext, { allowedMs }: Plan): Promise<StoredSession | null> {
    return (await this.sessions.claim(run, allowedMs + SESSION_START_GRACE_MS)) ?? this.sessions.find(run);
  }

  private async planOf(run: RunContext, hooks: AgentHooks): Promise<Plan | null> {
    const input = hookInput(inputBase(run), { event: 'SessionStart', source: 'startup' });
    const handlers = await this.handlers.matching(hooks, 'SessionStart', input);
    const hook = hooks.sessionStart && (await this.isPermitted(run)) ? hooks.sessionStart : null;
    if (handlers.length === 0 && hook === null) return null;
    const allowedMs = Math.max(hook ? sessionStartTimeoutMs(hook) : 0, ...handlers.map(timeoutMsOf));
    return { handlers, hook, allowedMs };
  }

  private async isPermitted({ organizationId }: RunContext): Promise<boolean> {
    const organization = await this.organizations.find(organizationId);
    return organization?.features.has('session_start_hook') ?? false;
  }

  private async begin(run: RunContext, hooks: AgentHooks, plan: Plan | null): Promise<ThreadSession> {
    const begun = this.begun.get(run) ?? this.callHooks(run, hooks, plan);
    this.begun.set(run, begun);
    const session = await begun;
    if (await this.sessions.end(run, session)) return session;
    return this.ended(run);
  }

  /** Independent of the run's signal: when the run is cancelled, the calls still finish and their outcome is stored for the next run. */
  private async callHooks(run: RunContext, hooks: AgentHooks, plan: Plan | null): Promise<ThreadSession> {
    const signal = new AbortController().signal;
    const input = hookInput(inputBase(run), { event: 'SessionStart', source: 'startup' });
    const [calls, outcome] = await Promise.all([
      this.handlers.execute(hooks, plan?.handlers ?? [], { input, userContext: run.userContext, signal }),
      plan?.hook ? this.tool.execute(run, plan.hook, signal) : null,
    ]);
    run.steps.push(...hookSteps(calls));
    return { additionalContext: contextsIn(calls), hook: outcome };
  }

  /** Waits for another run's start. When that run does not end it in time (its process died), stores the outcome `degraded`. */
  private async await(run: RunContext, hooks: AgentHooks, remainingMs: number): Promise<ThreadSession> {
    let left = remainingMs;
    while (left > 0) {
      await this.clock.sleep(Math.min(left, SESSION_START_POLL_MS), run.signal);
      const stored = await this.sessions.find(run);
      if (stored?.state === 'ended') return stored.session;
      left = stored?.state === 'under_way' ? stored.remainingMs : 0;
    }
    this.logger.warn({ threadId: run.threadId }, 'The run that started a thread did not store an outcome in time');
    const hook: SessionStartOutcome | null = hooks.sessionStart && degraded(this.clock.now());
    await this.sessions.endExpired(run, { additionalContext: [], hook });
    return this.ended(run);
  }

  private async ended(run: RunContext): Promise<ThreadSession> {
    const stored = await this.sessions.find(run);
    // Not stored when the thread has been deleted.
    return stored?.state === 'ended' ? stored.session : NO_SESSION;
  }
}

export function degraded(at: Date): SessionStartOutcome {
  return { fetchedAt: at.toISOString(), status: 'degraded', contexts: [] };
}
