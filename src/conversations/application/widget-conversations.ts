import { Injectable } from '@nestjs/common';
import { CreateThread } from './create-thread.js';
import { ThreadLookup } from './thread-lookup.js';

/** The threads of the browser widget, for the context that issues session passes. */
@Injectable()
export class WidgetConversations {
  constructor(
    private readonly createThread: CreateThread,
    private readonly lookup: ThreadLookup,
  ) {}

  /** @throws DomainError `not_found` when the agent has been deleted */
  async open(organizationId: string, agentId: string): Promise<string> {
    return (await this.createThread.execute(organizationId, agentId, { channel: 'widget' })).id;
  }

  /** Null when there is none. Not from the cache, since another process may have deleted the thread. */
  async agentOf(organizationId: string, threadId: string): Promise<string | null> {
    this.lookup.forget(organizationId, threadId);
    return (await this.lookup.find(organizationId, threadId))?.agentId ?? null;
  }
}
