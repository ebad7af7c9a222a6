import type { Approval, ChatMessage, ToolActivity } from './chat-state.js';
import { keyOfReply, restoreMessage } from './restore-messages.js';
import type { WireComponent, WireEvent, WireInterrupt } from './wire.js';

/** The received part of a reply. */
export interface ReplyProgress {
  /** Null until the first part arrives. */
  readonly message: ChatMessage | null;
  readonly runId: string | null;
  /** How the reply ended; null while it streams. */
  readonly end: ReplyEnd | null;
}

export type ReplyEnd =
  | { readonly kind: 'finished'; readonly approvals: readonly Approval[] }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

export const NO_REPLY: ReplyProgress = { message: null, runId: null, end: null };

/** The reply after the next event of its run. Ignores unknown kinds of events. */
export function applyEvent(progress: ReplyProgress, event: WireEvent): ReplyProgress {
  switch (event.type) {
    case 'RUN_STARTED':
      return { ...progress, runId: event.runId };
    case 'TEXT_MESSAGE_START':
      return changed(progress, (message) => ({ ...message, id: event.messageId }));
    case 'TEXT_MESSAGE_CONTENT':
      return changed(progress, (message) => ({ ...message, text: message.text + event.delta }));
    case 'TOOL_CALL_START':
      return changed(progress, (message) =>
        withTool(message, { ...NEW_TOOL, id: event.toolCallId, name: event.toolCallName }),
      );
    case 'TOOL_CALL_ARGS':
      return changedTool(progress, event.toolCallId, (tool) => ({ ...tool, input: tool.input + event.delta }));
    case 'TOOL_CALL_RESULT':
      return changedTool(progress, event.toolCallId, (tool) => ({
        ...tool,
        output: event.content,
        status: 'completed',
      }));
    case 'CUSTOM':
      return event.name === 'component' && isComponent(event.value) ? withComponent(progress, event.value) : progress;
    case 'RUN_FINISHED':
      return finished(progress, event);
    case 'RUN_ERROR': {
      const end = { kind: 'failed', code: event.code ?? 'internal', message: event.message } as const;
      return { ...progress, message: progress.message && { ...progress.message, status: 'incomplete' }, end };
    }
    case 'TEXT_MESSAGE_END':
    case 'TOOL_CALL_END':
    default:
      return progress;
  }
}

const NEW_TOOL: ToolActivity = { id: '', name: '', input: '', output: null, status: 'running' };

function changed(progress: ReplyProgress, change: (message: ChatMessage) => ChatMessage): ReplyProgress {
  return { ...progress, message: change(progress.message ?? newReply(progress.runId)) };
}

function changedTool(progress: ReplyProgress, id: string, change: (tool: ToolActivity) => ToolActivity): ReplyProgress {
  return changed(progress, (message) => ({
    ...message,
    tools: message.tools.map((tool) => (tool.id === id ? change(tool) : tool)),
  }));
}

/** A stream that is read again from its beginning repeats the start of a call. */
function withTool(message: ChatMessage, tool: ToolActivity): ChatMessage {
  return { ...message, tools: [...message.tools.filter(({ id }) => id !== tool.id), tool] };
}

function withComponent(progress: ReplyProgress, { id, component, props, fallback }: WireComponent): ReplyProgress {
  return changed(progress, (message) => ({
    ...message,
    components: [...message.components.filter((known) => known.id !== id), { id, component, props, fallback }],
  }));
}

function newReply(runId: string | null): ChatMessage {
  const nothing = { id: null, text: '', attachments: [], components: [], tools: [], reaction: null };
  return { ...nothing, key: keyOfReply(runId ?? ''), role: 'assistant', status: 'streaming' };
}

/** The stored message replaces what the stream has shown. */
function finished(
  progress: ReplyProgress,
  { outcome, result }: Extract<WireEvent, { type: 'RUN_FINISHED' }>,
): ReplyProgress {
  const approvals = outcome?.type === 'interrupt' ? outcome.interrupts.map(approvalOf) : [];
  const stored = result?.message ? restoreMessage(result.message) : null;
  const status = outcome?.type === 'cancelled' ? 'incomplete' : 'completed';
  const message = stored ?? (progress.message && { ...progress.message, status });
  return { ...progress, message, end: { kind: 'finished', approvals } };
}

function approvalOf({ id, toolCallId, metadata }: WireInterrupt): Approval {
  return { interruptId: id, toolCallId: toolCallId ?? null, tool: metadata?.tool ?? '', input: metadata?.input };
}

function isComponent(value: unknown): value is WireComponent {
  if (typeof value !== 'object' || value === null) return false;
  const { id, component, props, fallback } = value as Partial<Record<keyof WireComponent, unknown>>;
  return (
    typeof id === 'string' &&
    typeof component === 'string' &&
    typeof props === 'object' &&
    props !== null &&
    typeof fallback === 'string'
  );
}
