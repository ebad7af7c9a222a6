import { Injectable } from '@nestjs/common';
import type { UserContext } from '../../conversations/index.js';
import type { JsonObject } from '../../models/index.js';
import { Clock, TimeSlice, withinTime } from '../../platform/clock/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { HookCall } from '../domain/hook-call.js';
import { EVENT_RULES, type HookEvent } from '../domain/hook-event.js';
import { type HookOutput, MalformedOutput } from '../domain/hook-output.js';
import { isHttp, isTool, type PlacedHandler, timeoutMsOf } from '../domain/hooks-document.js';
import { Matcher } from '../domain/matcher.js';
import { inSeconds } from '../domain/text.js';
import { CallHttpHandler } from './call-http-handler.js';
import { CallToolHandler } from './call-tool-handler.js';
import { HandlerFailed } from './handler-failed.js';
import { HookMetrics } from './hook-metrics.js';
import type { AgentHooks } from './hooks-of-agents.js';

/** What handlers are asked about. */
export interface HookQuestion {
  readonly event: HookEvent;
  readonly input: JsonObject;
  readonly userContext: UserContext | null;
  readonly signal: AbortSignal;
}

/** Between two matchers, when others wait: one that was not compiled yet takes milliseconds. */
const MATCHING_SLICE_MS = 5;

const BROKEN = 'The handler could not be called.';

/** Asks the handlers of one event, side by side. */
@Injectable()
export class RunHandlers {
  constructor(
    private readonly http: CallHttpHandler,
    private readonly tool: CallToolHandler,
    private readonly metrics: HookMetrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Those whose matcher takes what the input is about, in their order. */
  async matching({ handlers }: AgentHooks, event: HookEvent, input: JsonObject): Promise<readonly PlacedHandler[]> {
    const { matchedField } = EVENT_RULES[event];
    if (matchedField === null) return handlers[event];
    const field = input[matchedField];
    const name = typeof field === 'string' ? field : '';
    const slice = new TimeSlice(MATCHING_SLICE_MS);
    const matching: PlacedHandler[] = [];
    for (const placed of handlers[event]) {
      if (Matcher.of(placed.matcher).matches(name)) matching.push(placed);
      await slice.rest();
    }
    return matching;
  }

  /**
   * @returns what came of each, in their order: a handler that fails is among them
   * @throws the reason of `signal` when it aborts
   */
  async execute(hooks: AgentHooks, handlers: readonly PlacedHandler[], question: HookQuestion): Promise<HookCall[]> {
    if (handlers.length === 0) return [];
    // Made once for all of them: what a tool has answered may be a megabyte.
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
      if (error instanceof HandlerFailed || error instanceof MalformedOutput)
        return { output: null, error: error.message };
      this.logger.error({ err: error, agentId: hooks.agentId, hook: placed.path }, 'A hook could not be called');
      return { output: null, error: BROKEN };
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
