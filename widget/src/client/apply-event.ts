import type { Approval, ChatFailure, ChatMessage, MessagePart, ToolActivity } from './chat-state.js';
import { isComponentTool, keyOfReply, restoreReply, withoutBlankStart } from './restore-messages.js';
import { callIdOf, changeStatus, type ToolResults } from './tool-calls.js';
import type { WireComponent, WireEvent, WireInterrupt } from './wire.js';

/** The received part of a reply. */
export interface ReplyProgress {
  /** Null until the first part arrives. */
  readonly message: ChatMessage | null;
  readonly runId: string | null;
  /** Results of calls that the reply does not have: earlier replies have asked for approval of them. */
  readonly results: ToolResults;
  /** How the reply ended; null while it streams. */
  readonly end: ReplyEnd | null;
}

export type ReplyEnd =
  | { readonly kind: 'finished'; readonly approvals: readonly Approval[] }
  | { readonly kind: 'failed'; readonly failure: ChatFailure };

export const NO_REPLY: ReplyProgress = { message: null, runId: null, results: new Map(), end: null };

/** The reply after the next event of its run. Ignores unknown kinds of events. */
export function applyEvent(progress: ReplyProgress, event: WireEvent): ReplyProgress {
  switch (event.type) {
    case 'RUN_STARTED':
      return { ...progress, runId: event.runId };
    case 'TEXT_MESSAGE_START':
      return changed(progress, (message) => ({ ...message, id: event.messageId }));
    case 'TEXT_MESSAGE_CONTENT':
      return changed(progress, (message) => withText(message, event.delta));
    case 'TOOL_CALL_START':
      return changed(progress, (message) =>
        isComponentTool(event.toolCallName)
          ? message
          : withTool(message, { ...NEW_TOOL, id: event.toolCallId, name: event.toolCallName }),
      );
    case 'TOOL_CALL_ARGS':
      return changedTool(progress, event.toolCallId, (tool) => ({ ...tool, input: tool.input + event.delta }));
    case 'TOOL_CALL_RESULT':
      return withResult(progress, event.toolCallId, event.content);
    case 'CUSTOM':
      return event.name === 'component' && isComponent(event.value) ? withComponent(progress, event.value) : progress;
    case 'RUN_FINISHED':
      return finished(progress, event);
    case 'RUN_ERROR': {
      const failure = { code: event.code ?? 'internal', message: event.message, terminal: false };
      const message = brokenOff(progress.message ?? newReply(progress.runId), failure);
      return { ...progress, message, end: { kind: 'failed', failure } };
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

/** The reply as it is when it breaks off. */
export function brokenOff(message: ChatMessage, failure: ChatFailure): ChatMessage {
  const status = message.text === '' ? 'failed' : 'incomplete';
  return { ...message, ...changeStatus([message], 'running', 'failed')[0], status, failure };
}

function changedTool(progress: ReplyProgress, id: string, change: (tool: ToolActivity) => ToolActivity): ReplyProgress {
  if (!hasTool(progress, id)) return progress;
  return changed(progress, (message) => ({
    ...message,
    parts: message.parts.map((part) =>
      part.kind === 'tool' && part.tool.id === id ? { kind: 'tool', tool: change(part.tool) } : part,
    ),
  }));
}

function hasTool({ message }: ReplyProgress, id: string): boolean {
  return message?.parts.some((part) => part.kind === 'tool' && part.tool.id === id) ?? false;
}

function withResult(progress: ReplyProgress, id: string, output: string): ReplyProgress {
  if (!hasTool(progress, id)) return { ...progress, results: new Map([...progress.results, [id, output]]) };
  return changedTool(progress, id, (tool) => ({ ...tool, output, status: 'completed' }));
}

function withText(message: ChatMessage, delta: string): ChatMessage {
  const { text, parts } = message;
  const last = parts.at(-1);
  return {
    ...message,
    text: text + delta,
    parts: last?.kind === 'text' ? grown(parts, last.text + delta) : begun(parts, delta),
  };
}

function grown(parts: readonly MessagePart[], text: string): readonly MessagePart[] {
  return parts.with(-1, { kind: 'text', text });
}

/** The service separates the texts before and after a tool call by a blank line. */
function begun(parts: readonly MessagePart[], delta: string): readonly MessagePart[] {
  const text = parts.length === 0 ? delta : withoutBlankStart(delta);
  return text === '' ? parts : [...parts, { kind: 'text', text }];
}

function withTool(message: ChatMessage, tool: ToolActivity): ChatMessage {
  return { ...message, parts: [...message.parts, { kind: 'tool', tool }] };
}

function withComponent(progress: ReplyProgress, { id, component, props, fallback }: WireComponent): ReplyProgress {
  return changed(progress, (message) => ({
    ...message,
    parts: [
      ...message.parts.filter((part) => part.kind !== 'component' || part.component.id !== id),
      { kind: 'component', component: { id, component, props, fallback } },
    ],
  }));
}

export function newReply(runId: string | null): ChatMessage {
  const nothing = { id: null, text: '', parts: [], attachments: [], reaction: null, failure: null };
  return { ...nothing, key: keyOfReply(runId ?? ''), role: 'assistant', status: 'streaming', createdAt: Date.now() };
}

/** The stored message replaces what the stream has shown. */
function finished(
  progress: ReplyProgress,
  { outcome, result }: Extract<WireEvent, { type: 'RUN_FINISHED' }>,
): ReplyProgress {
  const approvals = outcome?.type === 'interrupt' ? outcome.interrupts.map(approvalOf) : [];
  const isStopped = outcome?.type === 'cancelled';
  const streamed = progress.message ?? (isStopped || approvals.length > 0 ? newReply(progress.runId) : null);
  const ended = result?.message
    ? restoreReply(result.message, streamed?.parts ?? [])
    : streamed && settled(streamed, isStopped);
  const message = ended && withAsked(isStopped ? { ...ended, status: 'stopped' } : ended, approvals);
  return { ...progress, message, end: { kind: 'finished', approvals } };
}

/** The end of a reply whose stored message the service has not sent. */
function settled(message: ChatMessage, isStopped: boolean): ChatMessage {
  const [ended = message] = changeStatus([message], 'running', isStopped ? 'failed' : 'completed');
  return { ...ended, status: 'completed' };
}

/** An agent may hide its calls, but the visitor sees those that wait for approval. */
function withAsked(message: ChatMessage, approvals: readonly Approval[]): ChatMessage {
  const asked = approvals.map((approval): ToolActivity => ({
    ...{ id: callIdOf(approval), name: approval.tool, input: JSON.stringify(approval.input ?? {}) },
    ...{ output: null, status: 'awaiting_approval' },
  }));
  const open = new Map(asked.map((tool) => [tool.id, tool]));
  const parts = message.parts.map((part): MessagePart => {
    const tool = part.kind === 'tool' ? open.get(part.tool.id) : undefined;
    if (!tool) return part;
    open.delete(tool.id);
    return { kind: 'tool', tool };
  });
  return { ...message, parts: [...parts, ...[...open.values()].map((tool) => ({ kind: 'tool', tool }) as const)] };
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
