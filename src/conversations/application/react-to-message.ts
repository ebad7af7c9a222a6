import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/clock/index.js';
import { messageNotFound } from '../domain/conversations.errors.js';
import type { ReactionName, ShownMessage } from '../domain/message.js';
import { MessageRepository } from '../persistence/message.repository.js';
import { ShowExpiredCalls } from './show-expired-calls.js';

/** Stores the user's reaction to a reply, which replaces an earlier one; null removes it. */
@Injectable()
export class ReactToMessage {
  constructor(
    private readonly messages: MessageRepository,
    private readonly expiredCalls: ShowExpiredCalls,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError `not_found` when the thread has no reply with this id */
  async execute(
    organizationId: string,
    threadId: string,
    messageId: string,
    reaction: ReactionName | null,
    comment: string | null,
  ): Promise<ShownMessage> {
    const kept = reaction === null ? null : { reaction, comment, createdAt: this.clock.now().toISOString() };
    const message = await this.messages.react(organizationId, threadId, messageId, kept);
    if (!message) throw messageNotFound();
    return this.expiredCalls.execute(organizationId, message);
  }
}
