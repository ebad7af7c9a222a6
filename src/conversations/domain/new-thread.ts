import type { AttachmentReference } from '../../files/index.js';
import { newId } from '../../platform/ids/index.js';
import type { Message, MessageRole, ToolCallRecord } from './message.js';
import { type Thread, titleOf } from './thread.js';

/** A call of the caller's own tool in a history that the request sends. */
export interface SentCall extends Pick<ToolCallRecord, 'id' | 'name' | 'input'> {
  /** Absent when the history has no result of the call. */
  readonly output?: string;
}

/** A message that the caller sends with the request. */
export interface InputMessage {
  readonly clientId?: string | undefined;
  readonly role: MessageRole;
  /** Empty only with attachments or calls. */
  readonly content: string;
  /** Only a user's message has attachments. */
  readonly attachments?: readonly AttachmentReference[];
  /** Only an assistant's message has calls. */
  readonly toolCalls?: readonly SentCall[];
}

export interface Conversation {
  /** The caller's instructions; empty for none. */
  readonly instructions: string;
  /** Oldest first. */
  readonly history: readonly InputMessage[];
  /** Null when the history ends with results of the caller's tools, which the run answers. */
  readonly text: string | null;
  readonly clientId?: string | undefined;
  readonly attachments?: readonly AttachmentReference[];
}

/** A message of a sent history. Its attachments are the caller's references, or the stored ones. */
export interface NewThreadMessage<Attachment> {
  readonly id: string;
  readonly clientId?: string | undefined;
  readonly role: MessageRole;
  readonly content: string;
  readonly attachments?: readonly Attachment[];
  readonly toolCalls?: readonly SentCall[];
}

/** The calls of a sent message as records, and as models read them. */
export function storedCalls({
  content: text,
  toolCalls = [],
}: Pick<InputMessage, 'content' | 'toolCalls'>): Pick<Message, 'toolCalls' | 'transcript'> {
  if (toolCalls.length === 0) return { toolCalls: [], transcript: [] };
  const byCaller = true as const;
  const calls = toolCalls.map(({ id, name, input }) => ({ id, name, input, byCaller }));
  return {
    toolCalls: toolCalls.map(({ output, ...call }) =>
      output === undefined
        ? { ...call, byCaller, status: 'denied', output: NO_RESULT_SENT }
        : { ...call, byCaller, status: 'completed', output },
    ),
    // A call without a result gets that of its record when models read the message.
    transcript: [
      { role: 'assistant', text, toolCalls: calls },
      ...toolCalls.flatMap(({ id: toolCallId, name: toolName, output }) =>
        output === undefined ? [] : [{ role: 'tool', toolCallId, toolName, output, isError: false } as const],
      ),
    ],
  };
}

const NO_RESULT_SENT = 'This call has no result: the conversation continued without one.';

export type SentMessage = Pick<NewThreadMessage<unknown>, 'id' | 'role' | 'content'>;

/** A thread that is created together with its first run. */
export interface NewThread<Attachment = AttachmentReference> {
  readonly thread: Thread;
  readonly history: readonly NewThreadMessage<Attachment>[];
  /** The client's own id of the thread; unique for the agent. */
  readonly externalId: string | null;
}

export function createNewThread(
  { organizationId, agentId }: { readonly organizationId: string; readonly agentId: string },
  history: Conversation['history'],
  now: Date,
  externalId: string | null = null,
): NewThread {
  const firstQuestion = history.find(({ role }) => role === 'user');
  return {
    thread: {
      id: newId(),
      organizationId,
      agentId,
      title: firstQuestion === undefined ? null : titleOf(firstQuestion.content),
      channel: 'api',
      metadata: {},
      createdAt: now,
      updatedAt: now,
      lastMessageAt: history.length === 0 ? null : now,
    },
    history: history.map((said) => ({ ...said, id: newId() })),
    externalId,
  };
}
