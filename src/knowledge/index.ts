import type { RunExtensions } from '../conversations/index.js';
import type { Context } from '../platform/context/index.js';
import { KnowledgeSearchTool } from './application/knowledge-search.tool-source.js';
import { KnowledgeModule } from './knowledge.module.js';
import { crawlSchema } from './persistence/crawl.schema.js';
import { driveSchema } from './persistence/drive.schema.js';
import { embeddingsSchema } from './persistence/embeddings.schema.js';
import { knowledgeSchema } from './persistence/knowledge.schema.js';
import { uploadsSchema } from './persistence/uploads.schema.js';
import { websiteSchema } from './persistence/website.schema.js';
import { websiteCommands } from './website/website-commands.js';

const schemas = [knowledgeSchema, embeddingsSchema, crawlSchema, websiteSchema, driveSchema, uploadsSchema];

export const knowledgeContext = {
  name: 'knowledge',
  modules: [KnowledgeModule],
  schema: {
    entities: schemas.flatMap(({ entities }) => entities),
    documents: schemas.flatMap(({ documents = [] }) => documents),
    migrations: schemas.flatMap(({ migrations }) => migrations),
  },
  commands: websiteCommands,
  runs: { toolSources: [KnowledgeSearchTool] },
} satisfies Context<RunExtensions>;
