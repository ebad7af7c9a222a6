import { Injectable } from '@nestjs/common';
import type { RunContext } from '../../conversations/index.js';
import { AppToolMissing, AppTools } from '../../integrations/index.js';
import { Clock, type Stopwatch, withinTime } from '../../platform/clock/index.js';
import { newId } from '../../platform/ids/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import { HandlerFailed } from '../domain/hook-output.js';
import { declaredValues } from '../domain/placeholders.js';
import {
  type NamedContext,
  parseContexts,
  type SessionStartHook,
  type SessionStartOutcome,
} from '../domain/session-start.js';
import { inSeconds } from '../domain/text.js';
import { MAX_SESSION_START_TIMEOUT_MS, SESSION_START_TIMEOUT_MS } from '../limits.js';
import { textOf } from './call-tool-handler.js';
import { HookMetrics } from './hook-metrics.js';

const INTERNAL_FAILURE = 'The session-start hook could not be called.';

export function sessionStartTimeoutMs({ timeoutMs = SESSION_START_TIMEOUT_MS }: SessionStartHook): number {
  return Math.min(timeoutMs, MAX_SESSION_START_TIMEOUT_MS);
}

@Injectable()
export class CallSessionStartTool {
  constructor(
    private readonly tools: AppTools,
    private readonly metrics: HookMetrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Adds a step to the run. A tool that fails gives the outcome `degraded`. @throws the reason of `signal` when it aborts */
  async execute(run: RunContext, hook: SessionStartHook, signal: AbortSignal): Promise<SessionStartOutcome> {
    const stopwatch = this.clock.stopwatch();
    const { contexts, error } = await this.contexts(run, hook, signal);
    const status = error === null ? 'ok' : 'degraded';
    const outcome = { fetchedAt: this.clock.now().toISOString(), status, contexts } as const;
    this.record(run, hook, stopwatch, outcome, error);
    return outcome;
  }

  private async contexts(
    run: RunContext,
    hook: SessionStartHook,
    signal: AbortSignal,
  ): Promise<{ contexts: readonly NamedContext[]; error: string | null }> {
    const ms = sessionStartTimeoutMs(hook);
    const late = (): HandlerFailed => new HandlerFailed(`The tool did not answer within ${inSeconds(ms)}.`);
    try {
      const contexts = await withinTime({ clock: this.clock, ms, signal, late }, (within) =>
        this.call(run, hook, within),
      );
      return { contexts, error: null };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HandlerFailed || error instanceof AppToolMissing)
        return { contexts: [], error: error.message };
      this.logger.error({ err: error, agentId: run.agent.id }, 'Calling a session-start hook failed');
      return { contexts: [], error: INTERNAL_FAILURE };
    }
  }

  private async call(
    run: RunContext,
    { app, toolName, staticArgs = {} }: SessionStartHook,
    signal: AbortSignal,
  ): Promise<readonly NamedContext[]> {
    const tool = await this.tools.find(run.organizationId, run.agent.id, { app, tool: toolName }, signal);
    const result = await tool.call(declaredValues(staticArgs, tool.inputSchema), run.userContext, signal);
    return parseContexts(textOf(result), toolName);
  }

  private record(
    run: RunContext,
    { app: server, toolName: tool }: SessionStartHook,
    { startedAt, elapsedMs }: Stopwatch,
    { status, contexts }: SessionStartOutcome,
    error: string | null,
  ): void {
    const latencyMs = elapsedMs();
    run.steps.push({
      ...{ id: newId(), type: 'hook', name: 'SessionStart', startedAt, latencyMs },
      input: { type: 'session_start_hook', server, tool },
      output: { status, contexts },
      error,
    });
    this.metrics.countSessionStart(error === null, latencyMs);
  }
}
