import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { UserColumns, UserKeysModule } from '../conversations/index.js';
import { ModelsModule } from '../models/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { EmbedMemories } from './application/embed-memories.js';
import { EraseMemories } from './application/erase-memories.js';
import { RecallMemories } from './application/memory.prompt-source.js';
import { MemoryTools } from './application/memory.tool-source.js';
import { OwnerQueue } from './application/owner-queue.js';
import { QueueEmbedding } from './application/queue-embedding.js';
import { ReadMemories } from './application/read-memories.js';
import { RemoveMemoriesOfDeletedAgents } from './application/remove-memories-of-deleted-agents.js';
import { SaveMemory } from './application/save-memory.js';
import { SearchMemories } from './application/search-memories.js';
import { MemoriesController } from './http/memories.controller.js';
import { embedMemories } from './jobs/embed-memories.definition.js';
import { EmbedMemoriesJob } from './jobs/embed-memories.job.js';
import { MemoryRepository } from './persistence/memory.repository.js';

/** Long-term memory: what agents note about their users. */
@Module({
  imports: [AccessModule, AgentsModule, ModelsModule, UserKeysModule, JobsModule.define(embedMemories)],
  controllers: [MemoriesController],
  providers: [
    ...[MemoryRepository, OwnerQueue, QueueEmbedding, EmbedMemories, EmbedMemoriesJob],
    ...[
      SaveMemory,
      SearchMemories,
      ReadMemories,
      EraseMemories,
      RemoveMemoriesOfDeletedAgents,
      RecallMemories,
      MemoryTools,
    ],
  ],
  exports: [RecallMemories, MemoryTools],
})
export class MemoryModule {
  constructor(users: UserColumns) {
    users.register({ table: 'memories', column: 'user_key', isLookedUp: true });
  }
}
