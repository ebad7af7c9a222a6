import { Injectable } from '@nestjs/common';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { ShownMessage } from '../domain/message.js';
import { type Page, MessageRepository } from '../persistence/message.repository.js';
import { ThreadRepository } from '../persistence/thread.repository.js';
import { ShowExpiredCalls } from './show-expired-calls.js';

/** Older messages are stored but not listed. */
const LISTED_MESSAGES = 200;

/**
 * Bytes of the listed messages, as stored: other requests wait while a response is built. A larger message is listed
 * alone.
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
   * @param toolCalls whether the messages show them
   * @throws DomainError `not_found` when the thread has been deleted
   */
  async execute(organizationId: string, threadId: string, toolCalls: boolean): Promise<Page<ShownMessage>> {
    const bounds = { limit: LISTED_MESSAGES, maxBytes: LISTED_BYTES, toolCalls };
    const page = await this.messages.page(organizationId, threadId, bounds);
    // The guard reads a cache of seconds, so the thread may have been deleted.
    if (page.messages.length === 0 && !(await this.threads.find(organizationId, threadId))) throw threadNotFound();
    const messages = await Promise.all(
      page.messages.map((message) => this.expiredCalls.execute(organizationId, message)),
    );
    return { ...page, messages };
  }
}
