import type { Clock } from '../../../../platform/clock/index.js';
import { AgentLoopFailure } from '../../../domain/agent-loop.js';
import type { ToolResult } from './installed-sdk.js';
import { MAX_CALLS, STEP_MS } from './limits.js';
import type { MessagesCall } from './messages-call.js';
import { newToken } from './messages-endpoint.js';

const DONE: ToolResult = { content: [{ type: 'text', text: 'Made.' }] };
export const UNKNOWN_CALL: ToolResult = { content: [{ type: 'text', text: 'There is no such call.' }], isError: true };

/** The work of one process for one run: it asks for model calls and makes tool calls, and waits for each. */
export class Turn {
  readonly token = newToken();
  private call: MessagesCall | undefined;
  private callIds: readonly string[] = [];
  private rounds = 0;
  /** The process has called the tool since the last response. */
  private hasCalledTool = false;
  /** The engine has made the calls of the last response. */
  private callsAreMade = true;
  private resolveTools: (() => void)[] = [];
  private waiter: PromiseWithResolvers<undefined> | undefined;
  private failure: AgentLoopFailure | undefined;
  private isOver = false;

  constructor(private readonly clock: Clock) {}

  /** The engine has made the calls of the last response. Resolves when the process asks for the model. @throws AgentLoopFailure */
  async modelCall(): Promise<void> {
    this.resolveToolCalls();
    if (this.call === undefined) await this.nextRequest();
  }

  /** Answers the process's request with tool calls. Resolves when the process makes them. @throws AgentLoopFailure */
  async toolCalls(count: number): Promise<void> {
    this.rounds += 1;
    this.hasCalledTool = false;
    this.callsAreMade = false;
    const length = Math.min(count, MAX_CALLS);
    this.callIds = Array.from({ length }, (_, index) => `toolu_${this.token}_${this.rounds}_${index}`);
    const { call } = this;
    this.call = undefined;
    const asked = this.nextRequest();
    call?.answerWithTools(this.callIds);
    await asked;
  }

  /** The run is over: further requests of the process end its turn. */
  finish(): void {
    this.isOver = true;
    this.resolveToolCalls();
    this.call?.answerWithEnd();
    this.call = undefined;
  }

  /** The process asks for a model call. */
  onModelCall(call: MessagesCall): void {
    if (this.isOver) {
      call.answerWithEnd();
      return;
    }
    if (this.call !== undefined || (this.callIds.length > 0 && !this.hasCalledTool)) {
      this.fail(
        new AgentLoopFailure('The process asked for the model before it had made the tool calls of the response'),
      );
      return;
    }
    this.call = call;
    this.waiter?.resolve(undefined);
  }

  /** The process calls the tool. Resolves when the engine has made the calls. */
  async onToolCall(id: string | undefined): Promise<ToolResult> {
    if (this.isOver || id === undefined || !this.callIds.includes(id)) return UNKNOWN_CALL;
    this.hasCalledTool = true;
    // The engine makes all calls of a response after the first, and the process may make others later.
    if (this.callsAreMade) return DONE;
    const made = new Promise<void>((resolve) => this.resolveTools.push(resolve));
    this.waiter?.resolve(undefined);
    await made;
    return DONE;
  }

  fail(failure: AgentLoopFailure): void {
    this.failure ??= failure;
    this.waiter?.reject(this.failure);
  }

  private async nextRequest(): Promise<void> {
    if (this.failure !== undefined) throw this.failure;
    const cancel = this.clock.after(STEP_MS, () =>
      this.fail(new AgentLoopFailure('The process did not continue its run in time')),
    );
    const waiter = Promise.withResolvers<undefined>();
    this.waiter = waiter;
    try {
      await waiter.promise;
    } finally {
      cancel();
      // The engine may be waiting for another request already.
      if (this.waiter === waiter) this.waiter = undefined;
    }
  }

  private resolveToolCalls(): void {
    this.callsAreMade = true;
    for (const resolve of this.resolveTools.splice(0)) resolve();
  }
}
