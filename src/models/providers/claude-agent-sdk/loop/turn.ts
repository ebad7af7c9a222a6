import type { Clock } from '../../../../platform/clock/index.js';
import { AgentLoopFailure } from '../../../domain/agent-loop.js';
import type { ToolResult } from './installed-sdk.js';
import { MAX_CALLS, STEP_MS } from './limits.js';
import type { MessagesCall } from './messages-call.js';
import { newToken } from './messages-endpoint.js';

const MADE: ToolResult = { content: [{ type: 'text', text: 'Made.' }] };
export const UNKNOWN_CALL: ToolResult = { content: [{ type: 'text', text: 'There is no such call.' }], isError: true };

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (failure: AgentLoopFailure) => void;
}

/** What one process does for one run: it asks for calls of the model and makes calls of the tool, and waits for each. */
export class Turn {
  readonly token = newToken();
  private call: MessagesCall | undefined;
  private callIds: readonly string[] = [];
  private rounds = 0;
  /** The tool has been called since the newest answer. */
  private asked = false;
  /** The engine has made the calls of the newest answer. */
  private made = true;
  private resolveTools: (() => void)[] = [];
  private waiter: Waiter | undefined;
  private failure: AgentLoopFailure | undefined;
  private over = false;

  constructor(private readonly clock: Clock) {}

  /** The calls of the newest answer are made. Resolves when the process asks for the model. @throws AgentLoopFailure */
  async modelCall(): Promise<void> {
    this.settleTools();
    if (this.call === undefined) await this.step();
  }

  /** Answers the request for the model with calls. Resolves when the process makes them. @throws AgentLoopFailure */
  async toolCalls(count: number): Promise<void> {
    this.rounds += 1;
    this.asked = false;
    this.made = false;
    this.callIds = Array.from(
      { length: Math.min(count, MAX_CALLS) },
      (_, index) => `toolu_${this.token}_${this.rounds}_${index}`,
    );
    const { call } = this;
    this.call = undefined;
    const asked = this.step();
    call?.answerWithTools(this.callIds);
    await asked;
  }

  /** The run is over: whatever the process asks for now ends its turn. */
  finish(): void {
    this.over = true;
    this.settleTools();
    this.call?.answerWithEnd();
    this.call = undefined;
  }

  /** The process asks for a call of the model. */
  onModelCall(call: MessagesCall): void {
    if (this.over) {
      call.answerWithEnd();
      return;
    }
    if (this.call !== undefined || (this.callIds.length > 0 && !this.asked)) {
      this.fail(new AgentLoopFailure('The process asked for the model before it had made the calls of the answer'));
      return;
    }
    this.call = call;
    this.arrived();
  }

  /** The process makes a call of the tool. Resolves once the engine has made it. */
  async onToolCall(id: string | undefined): Promise<ToolResult> {
    if (this.over || id === undefined || !this.callIds.includes(id)) return UNKNOWN_CALL;
    this.asked = true;
    // The engine makes all calls of an answer with the first, and a process may come with others later.
    if (this.made) return MADE;
    const made = new Promise<void>((resolve) => this.resolveTools.push(resolve));
    this.arrived();
    await made;
    return MADE;
  }

  /** Nothing more is to be expected of the process. */
  fail(failure: AgentLoopFailure): void {
    this.failure ??= failure;
    this.waiter?.reject(this.failure);
  }

  /** Waits for the process to ask for what comes next. */
  private step(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.failure !== undefined) {
        reject(this.failure);
        return;
      }
      const cancel = this.clock.after(STEP_MS, () =>
        this.fail(new AgentLoopFailure('The process did not go on with its run')),
      );
      const settle = (): void => {
        cancel();
        this.waiter = undefined;
      };
      this.waiter = {
        resolve: () => {
          settle();
          resolve();
        },
        reject: (failure) => {
          settle();
          reject(failure);
        },
      };
    });
  }

  private arrived(): void {
    this.waiter?.resolve();
  }

  private settleTools(): void {
    this.made = true;
    for (const resolve of this.resolveTools.splice(0)) resolve();
  }
}
