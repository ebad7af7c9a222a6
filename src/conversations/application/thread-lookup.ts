import { Injectable } from '@nestjs/common';
import { ResourceLookup, type ResourceOfAgent } from '../../access/index.js';
import { AgentDirectory, type RunnableAgent } from '../../agents/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { DomainError } from '../../platform/errors/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { Thread } from '../domain/thread.js';
import { ThreadRepository } from '../persistence/thread.repository.js';

/** Whose thread it is never changes; only its deletion has to be noticed. */
const CACHE_MS = 5_000;
const CACHED_THREADS = 20_000;
/** Names the thread that an answer is about. */
export const THREAD_HEADER = 'x-thread-id';

/** A thread as the guard finds it, with its agent: what handles the request looks up neither again. */
export interface ThreadReference extends ResourceOfAgent {
  readonly id: string;
  readonly agent: RunnableAgent;
}

/** Finds the agent of a thread; a hot thread costs the database nothing. */
@Injectable()
export class ThreadLookup extends ResourceLookup<ThreadReference> {
  override readonly kind = 'thread';
  private readonly cache: TtlCache<Pick<Thread, 'id' | 'agentId'>>;

  constructor(
    private readonly threads: ThreadRepository,
    private readonly agents: AgentDirectory,
    clock: Clock,
  ) {
    super();
    this.cache = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_THREADS });
  }

  async find(organizationId: string, id: string): Promise<ThreadReference | null> {
    const load = async (): Promise<Pick<Thread, 'id' | 'agentId'> | undefined> =>
      (await this.threads.findAgentOf(organizationId, id)) ?? undefined;
    const found = await this.cache.get(keyOf(organizationId, id), load);
    // The directory drops a deleted agent at once in this process, and its threads are absent with it.
    const agent = found ? await this.agents.find(organizationId, found.agentId) : null;
    return found && agent ? { ...found, agent } : null;
  }

  override headersOf({ id }: ThreadReference): Readonly<Record<string, string>> {
    return { [THREAD_HEADER]: id };
  }

  absent(): DomainError {
    return threadNotFound();
  }

  forget(organizationId: string, id: string): void {
    this.cache.delete(keyOf(organizationId, id));
  }

  /** A thread just made is about to be used. */
  remember({ organizationId, id, agentId }: Thread): void {
    void this.cache.get(keyOf(organizationId, id), () => Promise.resolve({ id, agentId }));
  }
}

function keyOf(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}
