import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Cursors, type Page } from '../../platform/cursors/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { Thread } from '../domain/thread.js';
import { type ListedThread, ThreadRepository } from '../persistence/thread.repository.js';

@Injectable()
export class ReadThreads {
  constructor(
    private readonly threads: ThreadRepository,
    private readonly cursors: Cursors,
  ) {}

  /** @throws DomainError `not_found` */
  async find(organizationId: string, threadId: string): Promise<Thread> {
    const thread = await this.threads.find(organizationId, threadId);
    if (!thread) throw threadNotFound();
    return thread;
  }

  /**
   * The threads that the caller may see, the latest activity first.
   * @throws ValidationFailed for a cursor that this list has not issued
   */
  async list(
    caller: ApiKeyPrincipal,
    assistantId: string | undefined,
    cursor: string | undefined,
    limit: number,
  ): Promise<Page<ListedThread>> {
    const scope = { list: 'threads', organizationId: caller.organizationId };
    const [activityAt, id] = this.cursors.read(scope, cursor);
    const found = await this.threads.list(caller.organizationId, {
      agentIds: visibleAgents(caller, assistantId),
      after: activityAt === undefined || id === undefined ? null : { activityAt, id },
      limit: limit + 1,
    });
    return this.cursors.page(scope, found, limit, ({ position }) => [position.activityAt, position.id]);
  }
}

/** The agents that both the allowlist and the filter allow; null means every agent. */
function visibleAgents({ agentIds }: ApiKeyPrincipal, assistantId: string | undefined): string[] | null {
  if (assistantId === undefined) return agentIds === null ? null : [...agentIds];
  return agentIds === null || agentIds.has(assistantId) ? [assistantId] : [];
}
