import { Injectable } from '@nestjs/common';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { type Auditor, MemoryAudit } from './memory-audit.js';

/** Lists a user's memories and logs who read them. */
@Injectable()
export class ReadMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly audit: MemoryAudit,
  ) {}

  /** The most recently saved first. */
  async execute(owner: MemoryOwner, by: Auditor): Promise<Memory[]> {
    const memories = (await this.memories.list(owner)).sort(newestFirst);
    this.audit.read(owner, by, memories.length);
    return memories;
  }
}

function newestFirst(left: Memory, right: Memory): number {
  return right.updatedAt.getTime() - left.updatedAt.getTime() || (right.id > left.id ? 1 : -1);
}
