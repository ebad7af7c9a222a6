import type { MessageRole } from './message.js';
import { type Thread, titleOf } from './thread.js';

/** What somebody has said before the conversation came here. */
export interface Utterance {
  readonly role: MessageRole;
  /** Never empty. */
  readonly content: string;
}

/** What a caller says in one turn, with the conversation as the caller knows it. */
export interface Conversation {
  /** Instructions of the caller's own; empty for none. */
  readonly instructions: string;
  /** Oldest first. */
  readonly history: readonly Utterance[];
  /** The message to be answered. */
  readonly text: string;
}

/** A thread that is made together with its first run, and not without it. */
export interface OpeningThread {
  readonly thread: Thread;
  readonly history: readonly (Utterance & { readonly id: string })[];
  /** What the client calls the thread; unique for its agent. */
  readonly externalId: string | null;
}

/** Opens a thread for a conversation that was begun elsewhere, or begins here. */
export function openThread(
  { organizationId, agentId }: { readonly organizationId: string; readonly agentId: string },
  { history }: Pick<Conversation, 'history'>,
  means: { readonly now: Date; readonly newId: () => string; readonly externalId?: string },
): OpeningThread {
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
    history: history.map(({ role, content }) => ({ id: newId(), role, content })),
    externalId: externalId ?? null,
  };
}
