import { ModelsModule } from '../models/index.js';
import { JobsModule } from '../platform/jobs/index.js';
import { EmbedAgent } from './embeddings/embed-agent.js';
import { EmbeddingModels } from './embeddings/embedding-models.js';
import { EndpointPause } from './embeddings/endpoint-pause.js';
import { OutboxEmbeddingQueue } from './embeddings/outbox-embedding-queue.js';
import { SemanticSearchState } from './embeddings/semantic-search-state.js';
import { EmbeddingQueue } from './indexing/embedding-queue.js';
import { EmbedChunks } from './jobs/embed-chunks.job.js';
import { EmbedMissing } from './jobs/embed-missing.job.js';
import { embedChunks, embedMissing } from './jobs/embedding.jobs.js';
import type { KnowledgePart } from './knowledge-part.js';
import { EmbeddingLeaseRepository } from './persistence/embedding-lease.repository.js';
import { EmbeddingModelRepository } from './persistence/embedding-model.repository.js';
import { VectorIndex } from './persistence/vector-index.js';
import { VectorTable } from './persistence/vector-table.js';
import { VectorRepository } from './persistence/vector.repository.js';

export const embeddingsPart: KnowledgePart = {
  imports: [ModelsModule, JobsModule.define(embedChunks, embedMissing)],
  controllers: [],
  providers: [
    ...[VectorTable, VectorRepository, VectorIndex, EmbeddingModelRepository, EmbeddingLeaseRepository],
    ...[EmbeddingModels, EndpointPause, EmbedAgent, SemanticSearchState],
    ...[EmbedChunks, EmbedMissing],
    { provide: EmbeddingQueue, useClass: OutboxEmbeddingQueue },
  ],
};
