import type { AttachmentReference } from '../../files/index.js';
import { newId } from '../../platform/ids/index.js';
import type { MessageRole } from './message.js';
import { type Thread, titleOf } from './thread.js';

/** A message that the caller sends with the request. */
export interface InputMessage {
  readonly clientId?: string | undefined;
  readonly role: MessageRole;
  /** Empty only with attachments. */
  readonly content: string;
  /** Only a user's message has attachments. */
  readonly attachments?: readonly AttachmentReference[];
}

export interface Conversation {
  /** The caller's instructions; empty for none. */
  readonly instructions: string;
  /** Oldest first. */
  readonly history: readonly InputMessage[];
  readonly text: string;
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
}

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
