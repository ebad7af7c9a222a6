import { Injectable } from '@nestjs/common';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { ShownMessage } from '../domain/message.js';
import { type Page, MessageRepository } from '../persistence/message.repository.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { ShowExpiredCalls } from './show-expired-calls.js';

/** A thread shows its newest messages; older ones are kept but not listed. */
export const LISTED_MESSAGES = 200;

/**
 * And no more than this of them, as they are stored: the answer is made and sent while other requests wait. A message
 * that is larger is shown alone.
 */
export const LISTED_BYTES = 4 * 1024 * 1024;

@Injectable()
export class ListMessages {
  constructor(
    private readonly messages: MessageRepository,
    private readonly threads: ThreadRepository,
    private readonly expiredCalls: ShowExpiredCalls,
  ) {}

  /**
   * @param toolCalls whether they are shown
   * @throws DomainError `not_found` when the thread is gone
   */
  async execute(organizationId: string, threadId: string, toolCalls: boolean): Promise<Page<ShownMessage>> {
    const bounds = { limit: LISTED_MESSAGES, maxBytes: LISTED_BYTES, toolCalls };
    const page = await this.messages.page(organizationId, threadId, bounds);
    // The guard's answer may be seconds old; an empty list would tell a deleted thread from an absent one.
    if (page.messages.length === 0 && !(await this.threads.find(organizationId, threadId))) throw threadNotFound();
    const messages = await Promise.all(
      page.messages.map((message) => this.expiredCalls.execute(organizationId, message)),
    );
    return { ...page, messages };
  }
}
