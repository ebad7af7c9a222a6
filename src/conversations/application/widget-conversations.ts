import { Injectable } from '@nestjs/common';
import { EmptyWidgetThreads } from '../persistence/empty-widget-threads.repository.js';
import { CreateThread } from './create-thread.js';
import { ThreadLookup } from './thread-lookup.js';

/** The conversations of the browser widget, for the context that hands out passes to them. */
@Injectable()
export class WidgetConversations {
  constructor(
    private readonly createThread: CreateThread,
    private readonly lookup: ThreadLookup,
    private readonly empty: EmptyWidgetThreads,
  ) {}

  /**
   * @returns the id of a new conversation with the agent
   * @throws DomainError `not_found` when the agent has been deleted meanwhile
   */
  async open(organizationId: string, agentId: string): Promise<string> {
    return (await this.createThread.forWidget(organizationId, agentId)).id;
  }

  /**
   * Always from the database: a conversation that another process has deleted is none.
   * @returns the agent of a conversation; null when the organization has no such conversation, or its agent is gone
   */
  async agentOf(organizationId: string, threadId: string): Promise<string | null> {
    this.lookup.forget(organizationId, threadId);
    return (await this.lookup.find(organizationId, threadId))?.agentId ?? null;
  }

  /**
   * Removes conversations that were opened before `before` and in which nothing has been said.
   * @returns how many; fewer than `limit` when no more are left
   */
  async removeEmpty(before: Date, limit: number): Promise<number> {
    const removed = await this.empty.remove(before, limit);
    for (const { organizationId, id } of removed) this.lookup.forget(organizationId, id);
    return removed.length;
  }
}
