import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/index.js';
import { AgentsModule } from '../../agents/index.js';
import { ModelsModule } from '../../models/index.js';
import { JobsModule } from '../../platform/jobs/index.js';
import { EmbedAgent } from './application/embeddings/embed-agent.js';
import { EmbeddingModels } from './application/embeddings/embedding-models.js';
import { SemanticSearchState } from './application/embeddings/semantic-search-state.js';
import { DocumentIndex } from './application/indexing/document-index.js';
import { DocumentWriter } from './application/indexing/document-writer.js';
import { EmbeddingQueue } from './application/indexing/embedding-queue.js';
import { KnowledgeSearchTool } from './application/knowledge-search.tool-source.js';
import { KeywordSearch } from './application/search/keyword-search.js';
import { RemoveDocumentsOfDeletedAgents } from './application/remove-documents-of-deleted-agents.js';
import { SearchKnowledge } from './application/search/search-knowledge.js';
import { VectorSearch } from './application/search/vector-search.js';
import { SearchController } from './http/search.controller.js';
import { EmbedChunks } from './jobs/embed-chunks.job.js';
import { EmbedMissing } from './jobs/embed-missing.job.js';
import { embedChunks, embedMissing } from './jobs/embedding.jobs.js';
import { MaintainPostings, maintainPostings } from './jobs/maintain-postings.job.js';
import { DocumentRepository } from './persistence/document.repository.js';
import { EmbeddingLeaseRepository } from './persistence/embedding-lease.repository.js';
import { EmbeddingModelRepository } from './persistence/embedding-model.repository.js';
import { VectorTable } from './persistence/vector-table.js';
import { VectorRepository } from './persistence/vector.repository.js';

const documents = [DocumentRepository, DocumentWriter, DocumentIndex, RemoveDocumentsOfDeletedAgents];
const vectors = [VectorTable, VectorRepository, EmbeddingModelRepository, EmbeddingLeaseRepository];
const embeddings = [EmbeddingModels, EmbedAgent, SemanticSearchState, EmbeddingQueue];
const search = [KeywordSearch, VectorSearch, SearchKnowledge];
const processors = [EmbedChunks, EmbedMissing, MaintainPostings];

/** Turns the blocks of documents into chunks with terms and vectors, and searches them. */
@Module({
  imports: [AccessModule, AgentsModule, ModelsModule, JobsModule.define(embedChunks, embedMissing, maintainPostings)],
  controllers: [SearchController],
  providers: [...documents, ...vectors, ...embeddings, ...search, ...processors, KnowledgeSearchTool],
  exports: [DocumentIndex, EmbeddingQueue, KnowledgeSearchTool],
})
export class IndexModule {}
