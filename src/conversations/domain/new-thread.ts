import type { AttachmentReference } from '../../files/index.js';
import type { MessageRole } from './message.js';
import { type Thread, titleOf } from './thread.js';

/** What somebody has said before the conversation came here. */
export interface InputMessage {
  /** The client's own id of a user's message. */
  readonly clientId?: string | undefined;
  readonly role: MessageRole;
  /** Never empty, except beside attachments. */
  readonly content: string;
  /** Of a user alone. */
  readonly attachments?: readonly AttachmentReference[];
}

/** What a caller says in one run, with the conversation as the caller knows it. */
export interface Conversation {
  /** Instructions of the caller's own; empty for none. */
  readonly instructions: string;
  /** Oldest first. */
  readonly history: readonly InputMessage[];
  /** The message to be answered. */
  readonly text: string;
  /** The client's own id of that message. */
  readonly clientId?: string | undefined;
  readonly attachments?: readonly AttachmentReference[];
}

/** Something said before; its attachments as the caller refers to them, or as they are kept. */
export interface NewThreadMessage<Attachment> {
  readonly id: string;
  readonly clientId?: string | undefined;
  readonly role: MessageRole;
  readonly content: string;
  readonly attachments?: readonly Attachment[];
}

export type SentMessage = Pick<NewThreadMessage<unknown>, 'id' | 'role' | 'content'>;

/** A thread that is made together with its first run, and not without it. */
export interface NewThread<Attachment = AttachmentReference> {
  readonly thread: Thread;
  readonly history: readonly NewThreadMessage<Attachment>[];
  /** What the client calls the thread; unique for its agent. */
  readonly externalId: string | null;
}

/** Opens a thread for a conversation that was begun elsewhere, or begins here. */
export function createNewThread(
  { organizationId, agentId }: { readonly organizationId: string; readonly agentId: string },
  { history }: Pick<Conversation, 'history'>,
  means: { readonly now: Date; readonly newId: () => string; readonly externalId?: string },
): NewThread {
  const { now, newId, externalId } = means;
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
    externalId: externalId ?? null,
  };
}
