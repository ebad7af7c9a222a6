import { reasoningEnd, type RunEvent, toolCallArgs, toolCallEnd } from './agui-events.js';
import type { ToolCallRecord } from '../domain/message.js';

/** The fields of all kinds of events that matter here. */
interface EventFields {
  readonly type: string;
  readonly messageId?: string;
  readonly toolCallId?: string;
  readonly delta?: string;
  /** Of a component. */
  readonly value?: { readonly id: string };
}

/** A tool call whose arguments were shown, at least their beginning. */
interface ShownCall {
  arguments: string;
  isOpen: boolean;
}

/** What a reader has been sent of a run so far. */
export class ShownEvents {
  hasStarted = false;
  text = '';
  /** Of the message; empty before its first text. */
  textId = '';
  textIsOpen = false;
  private readonly components = new Set<string>();
  private readonly results = new Set<string>();
  private readonly calls = new Map<string, ShownCall>();
  /** What closes the thought that is open. */
  private reasoning: RunEvent[] = [];

  /** @param event of a call or component */
  has(event: RunEvent): boolean {
    const { type, toolCallId = '', value } = event as EventFields;
    switch (type) {
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        return this.calls.has(toolCallId);
      case 'TOOL_CALL_RESULT':
        return this.results.has(toolCallId);
      case 'CUSTOM':
        return value !== undefined && this.components.has(value.id);
      default:
        return false;
    }
  }

  add(event: RunEvent): void {
    const { type, messageId = '', toolCallId = '', delta = '', value } = event as EventFields;
    switch (type) {
      case 'RUN_STARTED':
        this.hasStarted = true;
        break;
      case 'TEXT_MESSAGE_START':
      case 'TEXT_MESSAGE_END':
        this.textId = messageId;
        this.textIsOpen = type === 'TEXT_MESSAGE_START';
        break;
      case 'TEXT_MESSAGE_CONTENT':
        this.text += delta;
        break;
      case 'REASONING_START':
        this.reasoning = reasoningEnd(messageId).slice(1);
        break;
      case 'REASONING_MESSAGE_START':
        this.reasoning = reasoningEnd(messageId);
        break;
      case 'REASONING_MESSAGE_END':
      case 'REASONING_END':
        this.reasoning = this.reasoning.slice(1);
        break;
      case 'TOOL_CALL_START':
        this.calls.set(toolCallId, { arguments: '', isOpen: true });
        break;
      case 'TOOL_CALL_ARGS':
        this.change(toolCallId, (call) => (call.arguments += delta));
        break;
      case 'TOOL_CALL_END':
        this.change(toolCallId, (call) => {
          call.isOpen = false;
          call.arguments = '';
        });
        break;
      case 'TOOL_CALL_RESULT':
        this.results.add(toolCallId);
        break;
      case 'CUSTOM':
        if (value) this.components.add(value.id);
        break;
      default:
    }
  }

  /** The ends of thoughts and calls that are open. @param made the calls as they were made */
  *closings(made: readonly ToolCallRecord[]): Generator<RunEvent> {
    yield* this.reasoning;
    for (const [id, call] of this.calls) {
      if (!call.isOpen) continue;
      const rest = restOfArguments(
        call.arguments,
        made.find((one) => one.id === id),
      );
      if (rest !== '') yield toolCallArgs(id, rest);
      yield toolCallEnd(id);
    }
  }

  private change(id: string, change: (call: ShownCall) => unknown): void {
    const call = this.calls.get(id);
    if (call) change(call);
  }
}

/** Empty when the model wrote them otherwise than they are stored; the terminal event has them whole. */
function restOfArguments(shown: string, made: ToolCallRecord | undefined): string {
  const whole = made ? JSON.stringify(made.requestedInput ?? made.input) : '';
  return whole.startsWith(shown) ? whole.slice(shown.length) : '';
}
