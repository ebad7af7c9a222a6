import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../platform/database/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { type Auditor, MemoryAudit } from './memory-audit.js';
import { OwnerQueue } from './owner-queue.js';

/** Removes all memories that an agent has of a user. */
@Injectable()
export class EraseMemories {
  constructor(
    private readonly database: Database,
    private readonly memories: MemoryRepository,
    private readonly owners: OwnerQueue,
    private readonly audit: MemoryAudit,
  ) {}

  /** @returns how many there were */
  async execute(owner: MemoryOwner, by: Auditor): Promise<number> {
    const erase = async (transaction: Transaction): Promise<number> => {
      // Waits for a save that is under way, so that its memory is removed too.
      await this.memories.lock(transaction, owner);
      return this.memories.removeAll(transaction, owner);
    };
    const erased = await this.owners.run(owner, () => this.database.transaction(erase));
    this.audit.erased(owner, by, erased);
    return erased;
  }
}
