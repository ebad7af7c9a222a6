import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { type Auditor, MemoryAudit } from './memory-audit.js';

/** Removes all that an agent remembers of a person. */
@Injectable()
export class EraseMemories {
  constructor(
    private readonly database: Database,
    private readonly memories: MemoryRepository,
    private readonly audit: MemoryAudit,
  ) {}

  /** @returns how many there were */
  async execute(owner: MemoryOwner, by: Auditor): Promise<number> {
    const erased = await this.database.transaction(async (transaction) => {
      // One that is being saved at this moment goes too.
      await this.memories.lock(transaction, owner);
      return this.memories.removeAll(transaction, owner);
    });
    this.audit.erased(owner, by, erased);
    return erased;
  }
}
