import { Injectable } from '@nestjs/common';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { Message } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import { ThreadRepository } from '../persistence/thread.repository.js';

/** A thread shows its newest messages; older ones are kept but not listed. */
export const LISTED_MESSAGES = 200;

export interface MessagePage {
  /** Oldest first. */
  readonly messages: readonly Message[];
  /** There are older messages than these. */
  readonly truncated: boolean;
}

@Injectable()
export class ListMessages {
  constructor(
    private readonly messages: MessageRepository,
    private readonly threads: ThreadRepository,
  ) {}

  /** @throws DomainError `not_found` when the thread is gone */
  async execute(organizationId: string, threadId: string): Promise<MessagePage> {
    const newest = await this.messages.page(organizationId, threadId, { before: null, limit: LISTED_MESSAGES + 1 });
    // The guard's answer may be seconds old; an empty list would tell a deleted thread from an absent one.
    if (newest.length === 0 && !(await this.threads.find(organizationId, threadId))) throw threadNotFound();
    const truncated = newest.length > LISTED_MESSAGES;
    return { messages: truncated ? newest.slice(1) : newest, truncated };
  }
}
