import { Injectable } from '@nestjs/common';
import { threadNotFound } from '../domain/conversations.errors.js';
import type { Thread } from '../domain/thread.js';
import { ThreadRepository } from '../persistence/thread.repository.js';

@Injectable()
export class ReadThread {
  constructor(private readonly threads: ThreadRepository) {}

  /** @throws DomainError `not_found` */
  async execute(organizationId: string, threadId: string): Promise<Thread> {
    const thread = await this.threads.find(organizationId, threadId);
    if (!thread) throw threadNotFound();
    return thread;
  }
}
