import { Injectable } from '@nestjs/common';
import type { ApiKeyPrincipal } from '../../access/index.js';
import { Database, type Transaction } from '../../platform/database/index.js';
import { Logger } from '../../platform/telemetry/index.js';
import type { MemoryOwner } from '../domain/memory.js';
import { MemoryRepository } from '../persistence/memory.repository.js';
import { OwnerQueue } from './owner-queue.js';

/** Removes all memories that an agent has of a user, and logs who removed them. */
@Injectable()
export class EraseMemories {
  constructor(
    private readonly database: Database,
    private readonly memories: MemoryRepository,
    private readonly owners: OwnerQueue,
    private readonly logger: Logger,
  ) {}

  /** @returns how many there were */
  async execute({ keyId, memberId }: ApiKeyPrincipal, owner: MemoryOwner): Promise<number> {
    const erase = async (transaction: Transaction): Promise<number> => {
      // Waits for a save that is under way, so that its memory is removed too.
      await this.memories.lock(transaction, owner);
      return this.memories.removeAll(transaction, owner);
    };
    const memories = await this.owners.run(owner, () => this.database.transaction(erase));
    const record = { audit: 'memories_erased', ...owner, keyId, memberId, memories };
    this.logger.info(record, 'The memories of a user were erased');
    return memories;
  }
}
