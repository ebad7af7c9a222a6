import { Injectable } from '@nestjs/common';
import { ResourceLookup, ResourceLookups, type ResourceOfAgent } from '../../access/index.js';
import { AgentDirectory, type RunnableAgent } from '../../agents/index.js';
import { TtlCache } from '../../platform/cache/index.js';
import { Clock } from '../../platform/clock/index.js';
import type { DomainError } from '../../platform/errors/index.js';
import { THREAD_ID_HEADER } from '../../platform/http/index.js';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { Thread } from '../domain/thread.js';
import { ThreadRepository } from '../persistence/thread.repository.js';

/** A thread's agent never changes, so this only bounds how late a deletion by another process is noticed. */
const CACHE_MS = 5_000;
/** For the start of a run, whose statement notices a deletion itself. */
const RUN_CACHE_MS = 600_000;
const CACHED_THREADS = 20_000;

/** A thread with its agent. The guard finds both once for a request. */
export interface ThreadReference extends ResourceOfAgent {
  readonly id: string;
  readonly agent: RunnableAgent;
}

/** Finds a thread and its agent, through a cache of seconds; for the start of a run, of minutes. */
@Injectable()
export class ThreadLookup extends ResourceLookup<ThreadReference> {
  override readonly kind = 'thread';
  private readonly recent: TtlCache<Pick<Thread, 'id' | 'agentId'>>;
  private readonly known: TtlCache<Pick<Thread, 'id' | 'agentId'>>;

  constructor(
    private readonly threads: ThreadRepository,
    private readonly agents: AgentDirectory,
    lookups: ResourceLookups,
    clock: Clock,
  ) {
    super();
    this.recent = new TtlCache({ clock, ttlMs: CACHE_MS, maxEntries: CACHED_THREADS });
    this.known = new TtlCache({ clock, ttlMs: RUN_CACHE_MS, maxEntries: CACHED_THREADS });
    lookups.register(this);
  }

  async find(organizationId: string, id: string, mayBeDeleted = false): Promise<ThreadReference | null> {
    const key = keyOf(organizationId, id);
    const load = async (): Promise<Pick<Thread, 'id' | 'agentId'> | undefined> => {
      const thread = await this.threads.find(organizationId, id);
      return thread ? { id: thread.id, agentId: thread.agentId } : undefined;
    };
    const read = (): ReturnType<typeof load> => this.recent.get(key, load);
    const found = await (mayBeDeleted ? this.known.get(key, read) : read());
    // In this process the directory notices a deleted agent at once, and its threads are then absent.
    const agent = found ? await this.agents.find(organizationId, found.agentId) : null;
    return found && agent ? { ...found, agent } : null;
  }

  override headersOf({ id }: ThreadReference): Readonly<Record<string, string>> {
    return { [THREAD_ID_HEADER]: id };
  }

  absent(): DomainError {
    return threadNotFound();
  }

  forget(organizationId: string, id: string): void {
    for (const cache of [this.recent, this.known]) cache.delete(keyOf(organizationId, id));
  }

  remember({ organizationId, id, agentId }: Thread): void {
    for (const cache of [this.recent, this.known]) cache.set(keyOf(organizationId, id), { id, agentId });
  }
}

function keyOf(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}
