import { Module } from '@nestjs/common';
import { AccessModule } from '../access/index.js';
import { AgentsModule } from '../agents/index.js';
import { KnowledgeSearchTool } from './application/knowledge-search.tool-source.js';
import { crawlPart } from './crawl.part.js';
import { drivePart } from './drive.part.js';
import { embeddingsPart } from './embeddings.part.js';
import { indexPart } from './index.part.js';
import { parsingPart } from './parsing.part.js';
import { searchPart } from './search.part.js';
import { uploadsPart } from './uploads.part.js';
import { websitePart } from './website.part.js';

const parts = [parsingPart, indexPart, embeddingsPart, searchPart, crawlPart, websitePart, drivePart, uploadsPart];

/** What agents know: websites, drive files and uploads, indexed and searched. */
@Module({
  imports: [AccessModule, AgentsModule, ...parts.flatMap(({ imports }) => [...imports])],
  controllers: parts.flatMap(({ controllers }) => [...controllers]),
  providers: parts.flatMap(({ providers }) => [...providers]),
  exports: [KnowledgeSearchTool],
})
export class KnowledgeModule {}
