import { EventType, type AGUIEvent, PROTOCOL_VERSION, type RunFinishedOutcome } from '@ag-ui/core';
import type { MessageComponent, ToolCallRecord } from '../domain/message.js';
import type { StreamError } from '../domain/run.js';
import type { MessageResponse, RunResponse } from '../http/messages.dto.js';

/** An event of AG-UI 1.0, the protocol of `runs/stream`. */
export type RunEvent = AGUIEvent;

/** No event of AG-UI: streams carry the text as a comment, which clients skip. */
export interface StreamComment {
  readonly comment: string;
}

export const WAITS_FOR_DATABASE: StreamComment = { comment: 'waiting for the database' };

export const runStarted = (threadId: string, runId: string): RunEvent => ({
  type: EventType.RUN_STARTED,
  threadId,
  runId,
  protocolVersion: PROTOCOL_VERSION,
});

export const textStart = (messageId: string): RunEvent => ({
  type: EventType.TEXT_MESSAGE_START,
  messageId,
  role: 'assistant',
});

export const textContent = (messageId: string, delta: string): RunEvent => ({
  type: EventType.TEXT_MESSAGE_CONTENT,
  messageId,
  delta,
});

export const textEnd = (messageId: string): RunEvent => ({ type: EventType.TEXT_MESSAGE_END, messageId });

export const reasoningStart = (messageId: string): RunEvent[] => [
  { type: EventType.REASONING_START, messageId },
  { type: EventType.REASONING_MESSAGE_START, messageId, role: 'reasoning' },
];

export const reasoningContent = (messageId: string, delta: string): RunEvent => ({
  type: EventType.REASONING_MESSAGE_CONTENT,
  messageId,
  delta,
});

export const reasoningEnd = (messageId: string): RunEvent[] => [
  { type: EventType.REASONING_MESSAGE_END, messageId },
  { type: EventType.REASONING_END, messageId },
];

export const toolCallStart = (toolCallId: string, toolCallName: string, parentMessageId: string): RunEvent => ({
  type: EventType.TOOL_CALL_START,
  toolCallId,
  toolCallName,
  parentMessageId,
});

export const toolCallArgs = (toolCallId: string, delta: string): RunEvent => ({
  type: EventType.TOOL_CALL_ARGS,
  toolCallId,
  delta,
});

export const toolCallEnd = (toolCallId: string): RunEvent => ({ type: EventType.TOOL_CALL_END, toolCallId });

export const toolCallResult = (messageId: string, call: ToolCallRecord): RunEvent => ({
  type: EventType.TOOL_CALL_RESULT,
  messageId,
  toolCallId: call.id,
  content: call.output ?? '',
  role: 'tool',
});

export const componentShown = ({ id, component, props, fallback }: MessageComponent): RunEvent => ({
  type: EventType.CUSTOM,
  name: 'component',
  value: { id, component, props, fallback },
});

/** The last event of a run that did not fail. */
export function runFinished(
  ended: { run: RunResponse; message: MessageResponse | null; provider: string; model: string },
  outcome: RunFinishedOutcome,
): RunEvent {
  const { run, message, provider, model } = ended;
  const { inputTokens, outputTokens, totalTokens, cachedInputTokens } = run.usage;
  return {
    type: EventType.RUN_FINISHED,
    threadId: run.thread_id,
    runId: run.id,
    outcome,
    usage: [
      {
        provider,
        model,
        ...(inputTokens === null ? {} : { inputTokens }),
        ...(outputTokens === null ? {} : { outputTokens }),
        ...(totalTokens === null ? {} : { totalTokens }),
        ...(cachedInputTokens === null ? {} : { cachedInputTokens }),
      },
    ],
    result: { run, message },
  };
}

export const runError = (error: StreamError): RunEvent => ({
  type: EventType.RUN_ERROR,
  message: error.message,
  code: error.code,
});

const REASONING_EVENTS: ReadonlySet<EventType> = new Set([
  EventType.REASONING_START,
  EventType.REASONING_MESSAGE_START,
  EventType.REASONING_MESSAGE_CONTENT,
  EventType.REASONING_MESSAGE_END,
  EventType.REASONING_END,
]);

/** Only readers that ask for reasoning get these events. */
export function isReasoning(event: RunEvent): boolean {
  return REASONING_EVENTS.has(event.type);
}
