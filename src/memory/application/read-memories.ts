import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { Memory, MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';

/** Lists a user's memories, and logs who read them. */
@Injectable()
export class ReadMemories {
  constructor(
    private readonly memories: MemoryRepository,
    private readonly logger: Logger,
  ) {}

  /** The most recently saved first. */
  async execute({ keyId, memberId }: ApiKeyPrincipal, owner: MemoryOwner): Promise<Memory[]> {
    const memories = (await this.memories.list(owner)).sort(newestFirst);
    const record = { audit: 'memories_read', ...owner, keyId, memberId, memories: memories.length };
    this.logger.info(record, 'The memories of a user were read');
    return memories;
  }
}

function newestFirst(left: Memory, right: Memory): number {
  return right.updatedAt.getTime() - left.updatedAt.getTime() || (right.id > left.id ? 1 : -1);
}
