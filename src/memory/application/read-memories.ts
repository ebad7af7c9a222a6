import { Injectable } from '@nestjs/common';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { type Auditor, MemoryAudit } from './memory-audit.js';

/** Shows a person's memories, as whoever has to answer for them asks for. */
@Injectable()
export class ReadMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly audit: MemoryAudit,
  ) {}

  /** The one that was said last first. */
  async execute(owner: MemoryOwner, by: Auditor): Promise<Memory[]> {
    const memories = (await this.memories.list(owner)).sort(newestFirst);
    this.audit.read(owner, by, memories.length);
    return memories;
  }
}

function newestFirst(left: Memory, right: Memory): number {
  return right.updatedAt.getTime() - left.updatedAt.getTime() || (right.id > left.id ? 1 : -1);
}
