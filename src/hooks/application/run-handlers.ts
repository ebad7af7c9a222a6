import { Injectable } from '@nestjs/common';
import type { RunContext, UserContext } from '../../conversations/index.js';
import { AppToolMissing } from '../../integrations/index.js';
import type { JsonObject } from '../../models/index.js';
import { Clock, TimeSlice, withinTime } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { HookCall } from '../domain/hook-call.js';
import { EVENT_RULES, type HookEvent, type InputBase } from '../domain/hook-event.js';
import { HandlerFailed, type HookOutput } from '../domain/hook-output.js';
import { isHttp, isTool, type PlacedHandler, timeoutMsOf } from '../domain/hooks-document.js';
import { matches } from '../domain/matcher.js';
import { inSeconds } from '../domain/text.js';
import { CallHttpHandler } from './call-http-handler.js';
import { CallToolHandler } from './call-tool-handler.js';
import { HookMetrics } from './hook-metrics.js';
import type { AgentHooks } from './hooks-of-agents.js';

export interface HookQuestion {
  readonly input: JsonObject;
  readonly userContext: UserContext | null;
  readonly signal: AbortSignal;
}

/** Compiling a matcher takes milliseconds, so matching yields to other work after this time. */
const MATCHING_SLICE_MS = 5;

const INTERNAL_FAILURE = 'The handler could not be called.';

export function inputBase({ threadId, runId, agent, userContext }: RunContext): InputBase {
  return { threadId, runId, agentId: agent.id, userContext };
}

/** Calls the handlers of one event in parallel. */
@Injectable()
export class RunHandlers {
  constructor(
    private readonly http: CallHttpHandler,
    private readonly tool: CallToolHandler,
    private readonly metrics: HookMetrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** The handlers of the event whose matcher matches the input, in document order. */
  async matching({ handlers }: AgentHooks, event: HookEvent, input: JsonObject): Promise<readonly PlacedHandler[]> {
    const { matchedField } = EVENT_RULES[event];
    if (matchedField === null) return handlers[event];
    const field = input[matchedField];
    const name = typeof field === 'string' ? field : '';
    const slice = new TimeSlice(MATCHING_SLICE_MS);
    const matching: PlacedHandler[] = [];
    for (const placed of handlers[event]) {
      if (matches(placed.matcher, name)) matching.push(placed);
      await slice.rest();
    }
    return matching;
  }

  /**
   * @returns one call for each handler, in their order, failed ones included
   * @throws the reason of `signal` when it aborts
   */
  async execute(hooks: AgentHooks, handlers: readonly PlacedHandler[], question: HookQuestion): Promise<HookCall[]> {
    if (handlers.length === 0) return [];
    // Serialized once for all handlers, because a tool's response may be a megabyte.
    const body = handlers.some(isHttp) ? JSON.stringify(question.input) : '';
    return Promise.all(handlers.map((placed) => this.call(hooks, placed, question, body)));
  }

  private async call(
    hooks: AgentHooks,
    placed: PlacedHandler,
    question: HookQuestion,
    body: string,
  ): Promise<HookCall> {
    const { startedAt, elapsedMs } = this.clock.stopwatch();
    const answer = await this.answer(hooks, placed, question, body);
    const call = { placed, startedAt, latencyMs: elapsedMs(), ...answer };
    this.metrics.count(call);
    return call;
  }

  private async answer(
    hooks: AgentHooks,
    placed: PlacedHandler,
    question: HookQuestion,
    body: string,
  ): Promise<Pick<HookCall, 'output' | 'error'>> {
    const { signal } = question;
    const ms = timeoutMsOf(placed);
    const late = (): HandlerFailed => new HandlerFailed(`The handler did not answer within ${inSeconds(ms)}.`);
    try {
      const output = await withinTime({ clock: this.clock, ms, signal, late }, (within) =>
        this.ask(hooks, placed, question, body, within),
      );
      return { output, error: null };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HandlerFailed || error instanceof AppToolMissing)
        return { output: null, error: error.message };
      this.logger.error({ err: error, agentId: hooks.agentId, hook: placed.path }, 'Calling a hook failed');
      return { output: null, error: INTERNAL_FAILURE };
    }
  }

  private ask(
    hooks: AgentHooks,
    placed: PlacedHandler,
    question: HookQuestion,
    body: string,
    signal: AbortSignal,
  ): Promise<HookOutput> {
    if (isHttp(placed)) return this.http.execute(placed, hooks.credentials, body, signal);
    if (isTool(placed)) return this.tool.execute(placed, hooks, question, signal);
    throw new Error('A hook of an unknown type');
  }
}
