import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { hasExpired } from '../domain/approval.js';
import { messageNotFound, threadNotFound } from '../domain/conversations.errors.js';
import { hasOpenCalls, type ReactionName, type ShownMessage, withExpiredCalls } from '../domain/message.js';
import { type Page, MessageRepository } from '../persistence/message.repository.js';
import { RunReader } from '../persistence/run-reader.repository.js';
import { ThreadRepository } from '../persistence/thread.repository.js';

/** Older messages are stored but not listed. */
const LISTED_MESSAGES = 200;

/** As stored: other requests wait while a response is built. A larger message is listed alone. */
export const LISTED_BYTES = 4 * 1024 * 1024;

/** Messages as clients see them, and the reactions to them. */
@Injectable()
export class ShowMessages {
  constructor(
    private readonly messages: MessageRepository,
    private readonly threads: ThreadRepository,
    private readonly runs: RunReader,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` when the thread has been deleted */
  async list(organizationId: string, threadId: string, toolCalls: boolean): Promise<Page<ShownMessage>> {
    const bounds = { limit: LISTED_MESSAGES, maxBytes: LISTED_BYTES, toolCalls };
    const page = await this.messages.page(organizationId, threadId, bounds);
    // The guard reads a cache of seconds, so the thread may have been deleted.
    if (page.messages.length === 0 && !(await this.threads.find(organizationId, threadId))) throw threadNotFound();
    const messages = await Promise.all(page.messages.map((message) => this.withExpiry(organizationId, message)));
    return { ...page, messages };
  }

  /** Replaces the earlier reaction; null removes it. */
  async react(
    organizationId: string,
    threadId: string,
    messageId: string,
    reaction: ReactionName | null,
    comment: string | null,
  ): Promise<ShownMessage> {
    const kept = reaction === null ? null : { reaction, comment, createdAt: this.clock.now().toISOString() };
    const message = await this.messages.react(organizationId, threadId, messageId, kept);
    if (!message) throw messageNotFound();
    return this.withExpiry(organizationId, message);
  }

  /**
   * Shows calls whose approval has expired as denied. The database keeps them as waiting until the start of the
   * thread's next run changes them.
   */
  private async withExpiry(organizationId: string, message: ShownMessage): Promise<ShownMessage> {
    const now = this.clock.now();
    // A reply is older than the end of its run, so the run of a recent reply need not be read.
    if (message.runId === null || !hasOpenCalls(message) || !hasExpired(message.createdAt, now)) return message;
    const askedAt = await this.runs.findEnd(organizationId, message.runId);
    return askedAt !== null && hasExpired(askedAt, now) ? withExpiredCalls(message) : message;
  }
}
